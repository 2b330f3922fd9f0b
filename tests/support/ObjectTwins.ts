import { SkinnedInstance } from 'skinned-instanced-mesh';
import { Group, Matrix4, Object3D, Quaternion, Scene, Vector3 } from 'three';
import { expect } from 'vitest';
import { createCrowd } from './objects.js';

const STEP_COUNT = 12;

interface Pair<T extends Object3D> {
  object: T;
  twin: Object3D;
}

const _matrix = new Matrix4();
const _world = new Matrix4();

/** A scene with instances as objects, and a twin of it with plain objects of three.js, to which the same is done. */
export class ObjectTwins {
  readonly crowd = createCrowd();
  readonly scene = new Scene();
  readonly twinScene = new Scene();
  readonly twinCrowd = new Group();
  readonly groups: Pair<Group>[] = [];
  knights: Pair<SkinnedInstance>[] = [];
  readonly children: Pair<Object3D>[] = [];
  /** Ids of instances without objects, and whether they are visible. */
  indexed = new Map<number, boolean>();
  /** How often an object was found where its twin is. */
  checked = 0;

  constructor(readonly random: () => number) {
    this.scene.add(this.crowd);
    this.twinScene.add(this.twinCrowd);
    for (let i = 0; i < 4; i++) this.groups.push({ object: new Group(), twin: new Group() });
    this.groups.forEach((group, i) => {
      const parent = i < 2 ? { object: this.scene, twin: this.twinScene } : this.groups[i - 2];
      parent.object.add(group.object);
      parent.twin.add(group.twin);
    });
    for (let i = 0; i < 4; i++) this.create();
  }

  /** Does something to an object and its twin, or to the crowd. */
  step(): string {
    const steps = [...this.ofKnight, ...this.ofKnight, ...this.ofGroup, ...this.ofCrowd];
    const chosen = this.pick(steps);
    chosen();
    return chosen.name;
  }

  check(history: readonly string[]): void {
    const { crowd, scene, twinScene } = this;
    scene.updateMatrixWorld();
    twinScene.updateMatrixWorld();
    if (rootOf(crowd) !== scene) return;
    const steps = history.slice(-STEP_COUNT).join(', ');
    expect(crowd.instanceCount, steps).toBe(this.ids.length);
    for (const [id, seen] of this.indexed)
      expect(crowd.visibility.isDrawn(id), `${steps}: whether instance ${id} is seen`).toBe(seen);
    for (const { object, twin } of this.knights) {
      const inScene = rootOf(twin) === twinScene;
      const seen = inScene && isVisible(twin) && isVisible(this.twinCrowd);
      const drawn = crowd.visibility.isDrawn(object.instanceId) && isVisible(crowd);
      expect(drawn, `${steps}: whether instance ${object.instanceId} is seen`).toBe(seen);
      if (!inScene) continue;
      this.checked++;
      crowd.getMatrixAt(object.instanceId, _matrix);
      _world.multiplyMatrices(crowd.matrixWorld, _matrix);
      const size = Math.max(...[crowd.matrixWorld, _matrix, twin.matrixWorld].map(largest));
      expectClose(_world, twin.matrixWorld, 1e-6 * size, `${steps}: instance ${object.instanceId}`);
      expectClose(object.matrixWorld, twin.matrixWorld, 1e-9 * size, `${steps}: object`);
    }
    for (const { object, twin } of this.children) {
      if (rootOf(twin) !== twinScene || rootOf(object) !== scene) continue;
      expectClose(object.matrixWorld, twin.matrixWorld, 1e-9 * largest(twin.matrixWorld), `${steps}: child`);
    }
  }

  /** Ids that exist. */
  private get ids(): number[] {
    return [...this.indexed.keys(), ...this.knights.map(({ object }) => object.instanceId)];
  }

  /** The next instance has the lowest id that is free. */
  private expectLowest(id: number): void {
    const { ids } = this;
    expect(id).toBe(Array.from({ length: ids.length + 1 }, (_, i) => i).find((i) => !ids.includes(i)));
  }

  private create(): void {
    const pair = { object: new SkinnedInstance(this.crowd), twin: new Object3D() };
    this.twinCrowd.add(pair.twin);
    this.expectLowest(pair.object.instanceId);
    this.knights.push(pair);
  }

  private readonly ofKnight = Object.values({
    position: () => this.both((o, v) => o.position.copy(v), this.vector(10)),
    positionX: () => this.both((o, x) => (o.position.x += x), this.random()),
    euler: () => this.both((o, v) => o.rotation.set(v.x, v.y, v.z), this.vector(3)),
    eulerY: () => this.both((o, y) => (o.rotation.y = y), this.random() * 6),
    quaternion: () => {
      const q = new Quaternion().setFromAxisAngle(this.vector(1).normalize(), this.random() * 6);
      this.both((o) => o.quaternion.premultiply(q), null);
    },
    lookAt: () => this.both((o, v) => o.lookAt(v), this.vector(10)),
    scale: () => this.both((o, v) => o.scale.setScalar(v), 0.5 + this.random()),
    applyMatrix: () => {
      const matrix = new Matrix4().makeRotationY(this.random() * 6).setPosition(this.vector(3));
      this.both((o) => o.applyMatrix4(matrix), null);
    },
    matrixByHand: () => {
      const q = new Quaternion().setFromAxisAngle(this.vector(1).normalize(), this.random() * 6);
      const matrix = new Matrix4().compose(this.vector(5), q, new Vector3(1, 2, 1));
      this.both((o) => {
        o.matrixAutoUpdate = false;
        o.matrix.copy(matrix);
      }, null);
    },
    matrixAgain: () => {
      const by = this.vector(1);
      this.both((o) => o.matrixAutoUpdate || o.matrix.setPosition(by), null);
    },
    automatic: () => this.both((o) => (o.matrixAutoUpdate = true), null),
    visible: () => {
      const visible = this.random() < 0.6;
      this.both((o) => (o.visible = visible), null);
    },
    add: () => {
      const parent = this.parent();
      const knight = this.pick(this.knights);
      if (isBelow(parent.twin, knight.twin)) return;
      parent.object.add(knight.object);
      parent.twin.add(knight.twin);
    },
    attach: () => {
      const parent = this.parent();
      const knight = this.pick(this.knights);
      if (isBelow(parent.twin, knight.twin)) return;
      // attach() reads places in the world, which are those of the last frame
      this.check([]);
      parent.object.attach(knight.object);
      parent.twin.attach(knight.twin);
    },
    goHome: () => {
      const knight = this.pick(this.knights);
      if (isBelow(this.twinCrowd, knight.twin)) return;
      knight.object.home.add(knight.object);
      this.twinCrowd.add(knight.twin);
    },
    removeFromParent: () => this.both((o) => o.removeFromParent(), null),
    child: () => {
      const knight = this.pick(this.knights);
      const child = { object: new Object3D(), twin: new Object3D() };
      for (const o of [child.object, child.twin]) o.position.set(0, 2, 0);
      knight.object.add(child.object);
      knight.twin.add(child.twin);
      this.children.push(child);
    },
    childGoes: () => {
      const child = this.children.pop();
      child?.object.removeFromParent();
      child?.twin.removeFromParent();
    },
    updateAlone: () => this.both((o) => o.updateMatrixWorld(), null),
    updateWorld: () => this.both((o) => o.updateWorldMatrix(true, true), null),
  });

  private readonly ofGroup = Object.values({
    groupMoves: () => {
      const [place, turn] = [this.vector(5), this.vector(3)];
      this.eachOf(this.pick(this.groups), (o) => {
        o.position.copy(place);
        o.rotation.set(turn.x, turn.y, turn.z);
      });
    },
    groupHides: () => {
      const visible = this.random() < 0.6;
      this.eachOf(this.pick(this.groups), (o) => (o.visible = visible));
    },
    groupGoes: () => this.hang(this.pick(this.groups)),
    groupRemoved: () => {
      if (this.random() < 0.2) this.eachOf(this.pick(this.groups), (o) => o.removeFromParent());
    },
  });

  private readonly ofCrowd = Object.values({
    crowdMoves: () => {
      const [place, turn, size] = [this.vector(5), this.vector(3), 0.5 + this.random()];
      this.eachOf({ object: this.crowd, twin: this.twinCrowd }, (o) => {
        o.position.copy(place);
        o.rotation.set(turn.x, turn.y, turn.z);
        o.scale.setScalar(size);
      });
    },
    crowdGoes: () => this.hang({ object: this.crowd, twin: this.twinCrowd }),
    created: () => this.create(),
    indexAdded: () => {
      const id = this.crowd.addInstance();
      this.expectLowest(id);
      this.indexed.set(id, true);
    },
    indexDeleted: () => {
      const [id] = this.indexed.keys();
      if (this.indexed.delete(id)) this.crowd.deleteInstance(id);
    },
    indexHidden: () => {
      for (const id of this.indexed.keys()) this.indexed.set(id, this.random() < 0.6);
      for (const [id, visible] of this.indexed) this.crowd.setVisibleAt(id, visible);
    },
    indexMoved: () => {
      const [id] = this.indexed.keys();
      if (id === undefined) return;
      this.crowd.setMatrixAt(id, _matrix.makeTranslation(1, 2, 3));
      this.crowd.instanceMatrix.needsUpdate = true;
    },
    swapped: () => {
      const [i, j] = [this.pick(this.ids), this.pick(this.ids)];
      this.crowd.swapInstances(i, j);
      this.indexed = new Map([...this.indexed].map(([id, seen]) => [id === i ? j : id === j ? i : id, seen]));
    },
    disposed: () => this.gone((knight) => knight.dispose()),
    deleted: () => this.gone((knight) => this.crowd.deleteInstance(knight.instanceId)),
    resized: () => this.crowd.setCapacity(this.crowd.count + Math.floor(this.random() * 5)),
    countSet: () => {
      const { count } = this.crowd;
      const kept = Math.floor(this.random() * count);
      this.crowd.count = kept;
      this.crowd.count = count;
      // Those above are there again, also who was deleted or hidden.
      for (let id = kept; id < count; id++)
        if (this.knights.every(({ object }) => object.instanceId !== id)) this.indexed.set(id, true);
    },
    optimized: () => this.crowd.optimize(),
  });

  private gone(go: (knight: SkinnedInstance) => void): void {
    if (this.knights.length < 3) return;
    const pair = this.pick(this.knights);
    go(pair.object);
    expect(pair.object.instanceId).toBe(-1);
    pair.twin.removeFromParent();
    this.knights = this.knights.filter((other) => other !== pair);
  }

  private both<V>(change: (object: Object3D, value: V) => void, value: V): void {
    this.eachOf(this.pick(this.knights), (object) => change(object, value));
  }

  private eachOf({ object, twin }: Pair<Object3D>, change: (object: Object3D) => void): void {
    change(object);
    change(twin);
  }

  /** Hangs something on the scene or, at times, on a group that is not below it. */
  private hang({ object, twin }: Pair<Object3D>): void {
    const parent =
      this.random() < 0.7 ? { object: this.scene, twin: this.twinScene } : this.pick(this.groups);
    if (isBelow(parent.twin, twin)) return;
    parent.object.add(object);
    parent.twin.add(twin);
  }

  private parent(): Pair<Object3D> {
    return this.pick<Pair<Object3D>>([
      { object: this.scene, twin: this.twinScene },
      ...this.groups,
      ...this.knights,
    ]);
  }

  private pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)];
  }

  private vector(size: number): Vector3 {
    const one = () => (this.random() * 2 - 1) * size;
    return new Vector3(one(), one(), one());
  }
}

function rootOf(object: Object3D): Object3D {
  return object.parent === null ? object : rootOf(object.parent);
}

const isVisible = (object: Object3D): boolean =>
  object.visible && (object.parent === null || isVisible(object.parent));

/** Whether an object is another one, or below it. */
const isBelow = (object: Object3D | null, other: Object3D): boolean =>
  object !== null && (object === other || isBelow(object.parent, other));

const largest = ({ elements }: Matrix4): number => Math.max(...elements.map(Math.abs));

function expectClose(actual: Matrix4, expected: Matrix4, tolerance: number, message: string): void {
  actual.elements.forEach((value, i) => {
    if (!(Math.abs(value - expected.elements[i]) <= tolerance)) {
      expect(actual.elements, message).toEqual(expected.elements);
    }
  });
}
