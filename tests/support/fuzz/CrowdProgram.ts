import type { SkinnedInstance } from 'skinned-instanced-mesh';
import { AnimationLayers, InstanceUniforms } from 'skinned-instanced-mesh';
import { type BufferGeometry, type Material, type Matrix4, Scene } from 'three';
import { crowdArguments } from '../crowdArguments.js';
import { orderOf } from '../features.js';
import { levelsOf } from '../levels.js';
import type { BoneTexture, Character, JointAttachment } from '../library.js';
import { disposeCharacter, SkinnedInstancedMesh, savePlayback } from '../library.js';
import { Dice } from './Dice.js';
import { createCameras } from './expectSeen.js';
import { clips, root, type Source, texturesOf } from './figure.js';
import { HOSTILE } from './hostile.js';
import type { AddedLevel } from './levels.js';
import { LEGAL } from './steps.js';

type Knight = SkinnedInstance;

/** A call of a crowd. */
export type Step = (program: CrowdProgram) => unknown;

/** Something attached to a joint, and how to attach it again. */
export interface Attached {
  readonly mesh: JointAttachment;
  readonly owner: Attached | null;
  readonly joint: string;
  readonly geometry: BufferGeometry;
  readonly material: Material;
  readonly offset: Matrix4;
  readonly levels: { geometry: BufferGeometry | null; from: number }[];
}

/** What a crowd is begun with. */
export interface Kind {
  readonly source: Source;
  readonly layers: boolean;
  readonly merged: boolean;
}

export const KINDS: readonly Kind[] = [
  { source: 'tracks', layers: true, merged: false },
  { source: 'tracks', layers: false, merged: true },
  { source: 'frames', layers: false, merged: true },
  { source: 'vertices', layers: false, merged: true },
];

/** A program of random calls of a crowd, that keeps what the crowd cannot be asked for. */
export class CrowdProgram {
  readonly dice: Dice;
  readonly scene = new Scene();
  /** What was called, for messages. */
  readonly log: string[] = [];
  /** Edits of joints and the like by id, in the order in which they were made: what makes each of them again. */
  edits = new Map<number, Map<string, (crowd: SkinnedInstancedMesh, id: number) => void>>();
  attached: Attached[] = [];
  levels: AddedLevel[] = [];
  /** Poses a second of those that are drawn in all detail. */
  nearPoseRate = 0;
  /** Keep looking at the crowd. */
  readonly cameras = createCameras();
  knights: Knight[] = [];
  /** Bone textures that were made on the way. */
  readonly boneTextures: BoneTexture[] = [];
  crowd: SkinnedInstancedMesh;
  /** Farthest that its clock has been: events do not fire again when it is turned back. */
  latest = 0;
  /** Whether the crowd was disposed: what is called then may throw, if the error says who does. */
  isDisposed = false;
  private readonly characters: Character[] = [];

  constructor(
    readonly seed: number,
    readonly kind: Kind,
    count = 6,
  ) {
    this.dice = new Dice(seed);
    this.crowd = this.create(count);
    this.scene.add(this.crowd);
    for (let id = 0; id < count; id++) this.crowd.setMatrixAt(id, this.dice.place());
  }

  create(count: number, boneTexture = texturesOf(this.kind.source)[0]): SkinnedInstancedMesh {
    const { layers, merged } = this.kind;
    const [character, ...rest] = crowdArguments(root, clips, count, { boneTexture, mergeMaterials: merged });
    const crowd = new SkinnedInstancedMesh(character, ...rest);
    this.characters.push(character);
    if (layers) this.addLayers(crowd);
    new InstanceUniforms(crowd, { dirt: 'float' });
    return crowd;
  }

  addLayers(crowd: SkinnedInstancedMesh): void {
    if (!this.kind.layers) return;
    new AnimationLayers(crowd, [
      { name: 'upper', mask: ['Spine'] },
      { name: 'nod', additive: true, weight: 0.5 },
    ]);
  }

  /** Ids that exist. */
  get ids(): number[] {
    const { crowd } = this;
    return Array.from({ length: crowd.count }, (_, id) => id).filter((id) => !crowd.visibility.isDeleted(id));
  }

  /** An id that exists; a new one if there is none. */
  get id(): number {
    const { ids } = this;
    if (ids.length > 0) return this.dice.pick(ids);
    this.edits.delete(this.crowd.addInstance());
    return this.ids[0];
  }

  get isTracks(): boolean {
    return this.crowd.boneTexture.encoding === 'tracks';
  }

  get hasJoints(): boolean {
    return this.kind.source !== 'vertices';
  }

  /** Objects whose instances are still there. */
  get livingKnights(): Knight[] {
    return this.knights.filter(({ instanceId }) => instanceId >= 0);
  }

  note(what: string): void {
    this.log[this.log.length - 1] += ` ${what}`;
  }

  /** Makes an edit that a crowd cannot be asked for, and keeps what makes it again. */
  edit(id: number, key: string, make: (crowd: SkinnedInstancedMesh, id: number) => void): void {
    make(this.crowd, id);
    const own = this.edits.get(id) ?? new Map();
    own.delete(key);
    this.edits.set(id, own.set(key, make));
  }

  run(steps: number): this {
    for (let i = 0; i < steps; i++) this.step();
    return this;
  }

  step(): void {
    const { dice } = this;
    const hostile = dice.chance(0.1);
    const step = hostile ? dice.pick(HOSTILE) : dice.pick(LEGAL);
    this.log.push(`${hostile ? 'hostile ' : ''}${step.name}`);
    this.explain(() => {
      if (hostile || this.isDisposed) this.refused(() => step(this));
      else step(this);
      // Carries over what was done to objects.
      this.scene.updateMatrixWorld();
    });
    this.latest = Math.max(this.latest, this.crowd.elapsed);
  }

  /** Says after which calls an error was thrown. */
  explain(call: () => void): void {
    try {
      call();
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`seed ${this.seed}: ${message}\nafter ${this.log.slice(-40).join(', ')}`, {
        cause: error,
      });
    }
  }

  /** Disposes the crowd, and goes on as if nothing had happened. */
  dispose(): void {
    this.crowd.dispose();
    for (const character of this.characters) disposeCharacter(character);
    for (const boneTexture of this.boneTextures) boneTexture.dispose();
    this.isDisposed = true;
    this.log.push('DISPOSED');
  }

  /** Calls what may throw, if the error is one of ours, no TypeError, and then has changed nothing. */
  private refused(call: () => void): void {
    if (this.ids.length === 0 && !this.isDisposed) this.edits.delete(this.crowd.addInstance());
    const before = this.isDisposed ? null : this.state();
    try {
      call();
    } catch (error) {
      const { message } = error as Error;
      this.note(`→ ${message}`);
      if ((error as Error).constructor !== Error) throw error;
      if (before !== null && this.state() !== before)
        throw new Error(`${message} — but something was changed`);
    }
  }

  /** All that can be asked for, as text. */
  state(): string {
    const { crowd } = this;
    const matrices = Array.from(crowd.instanceMatrix.array.slice(0, crowd.count * 16));
    return JSON.stringify([
      savePlayback(crowd),
      matrices,
      crowd.count,
      crowd.capacity,
      crowd.elapsed,
      levelsOf(crowd).levels.map(({ object, ...numbers }) => ({ ...numbers, isDrawn: object !== null })),
      levelsOf(crowd).dissolve,
      levelsOf(crowd).shadowLevel,
      orderOf(crowd).sortObjects,
      crowd.attachments.length,
      orderOf(crowd).maxVisible,
      orderOf(crowd).maxTriangles,
    ]);
  }
}
