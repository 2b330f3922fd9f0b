import { type AnimationClip, Matrix4, type Object3D, Quaternion, Vector3 } from 'three';
import { type BoneEdit, type BoneEdits, blendBones, editBones, keepTransforms } from './editReference.js';
import { editsOf } from './features.js';
import type { SkinnedInstancedMesh } from './library.js';
import { Mixers } from './mixers.js';
import { farthestVertex } from './reference.js';

/** A pose that blends in or out. */
interface Live {
  root: Object3D;
  from: number;
  to: number;
  start: number;
  seconds: number;
}

/** A crowd and clones with mixers, whose bones are changed after each update as those of the crowd are. */
export class EditedMixers extends Mixers {
  readonly places: Matrix4[];
  private readonly edits: BoneEdits[];
  private readonly lives: (Live | null)[];
  private time = 0;

  constructor(crowd: SkinnedInstancedMesh, root: Object3D, clips: readonly AnimationClip[]) {
    super(crowd, root, clips);
    this.places = this.clones.map(() => new Matrix4());
    this.edits = this.clones.map(() => new Map());
    this.lives = this.clones.map(() => null);
  }

  place(index: number, matrix: Matrix4): void {
    this.places[index].copy(matrix);
    this.crowd.setMatrixAt(index, matrix);
    this.crowd.instanceMatrix.needsUpdate = true;
  }

  edit(index: number, bone: string, edit: BoneEdit): void {
    const edits = this.edits[index];
    const ofBone = edits.get(bone) ?? new Map();
    ofBone.delete(edit.kind);
    edits.set(bone, ofBone.set(edit.kind, edit));
    const { crowd } = this;
    if (edit.kind === 'proportion') {
      editsOf(crowd).setProportionsAt(index, { [bone]: edit.value });
      return;
    }
    const { weight } = edit;
    if (edit.kind === 'lookAt') {
      const { axis, limit } = edit;
      editsOf(crowd).lookAt(index, bone, edit.target, { axis, limit, weight });
      return;
    }
    const mode = edit.add ? 'add' : 'replace';
    if (edit.kind === 'scale') {
      editsOf(crowd).setScaleAt(index, bone, edit.value, { mode, weight });
      return;
    }
    const space = edit.model ? 'model' : 'local';
    if (edit.kind === 'rotation')
      editsOf(crowd).setRotationAt(index, bone, edit.value, { mode, space, weight });
    else editsOf(crowd).setPositionAt(index, bone, edit.value, { mode, space, weight });
  }

  /** Edits a joint by chance. */
  editSome(index: number, bone: string, next: () => number, height: number): BoneEdit {
    const edit = randomEdit(next, this.clones[index].getObjectByName(bone)!, height);
    this.edit(index, bone, edit);
    return edit;
  }

  /** Ends an edit. */
  end(index: number, bone: string, kind: BoneEdit['kind']): void {
    this.edits[index].get(bone)?.delete(kind);
    const { crowd } = this;
    if (kind === 'lookAt') editsOf(crowd).lookAt(index, bone, null);
    else if (kind === 'rotation') editsOf(crowd).setRotationAt(index, bone, null);
    else if (kind === 'position') editsOf(crowd).setPositionAt(index, bone, null);
    else if (kind === 'scale') editsOf(crowd).setScaleAt(index, bone, null);
    else editsOf(crowd).setProportionsAt(index, { [bone]: null });
  }

  clear(index: number, bone?: string): void {
    for (const [name, edits] of this.edits[index]) {
      if (bone !== undefined && bone !== name) continue;
      for (const kind of edits.keys()) if (kind !== 'proportion') edits.delete(kind);
    }
    editsOf(this.crowd).clearAt(index, bone);
  }

  /** Gives an instance a live pose, or lets it go. The pose is that of `root` now. */
  live(index: number, root: Object3D | null, fade: number): void {
    const now = this.liveWeight(index);
    const { time: start } = this;
    editsOf(this.crowd).setPoseAt(index, root, { fade });
    if (root !== null) {
      const before = this.lives[index];
      const goesOn = before !== null && before.to === 1 && fade > 0;
      const copy = root.clone();
      this.lives[index] = goesOn
        ? { ...before, root: copy }
        : { root: copy, from: now, to: 1, start, seconds: fade };
    } else {
      const before = this.lives[index];
      if (before) this.lives[index] = fade > 0 ? { ...before, from: now, to: 0, start, seconds: fade } : null;
    }
  }

  override swap(i: number, j: number): void {
    super.swap(i, j);
    for (const list of [this.places, this.edits, this.lives]) {
      [list[i], list[j]] = [list[j], list[i]];
    }
  }

  override update(delta: number): void {
    super.update(delta);
    this.time += delta;
  }

  /** Calls back with each clone, posed as the instance should be. */
  forEachPosed(callback: (clone: Object3D, index: number) => void): void {
    this.clones.forEach((clone, index) => {
      const restore = keepTransforms(clone);
      clone.matrixAutoUpdate = false;
      clone.matrix.identity();
      const live = this.lives[index];
      const weight = this.liveWeight(index);
      if (live && weight > 0) blendBones(clone, live.root, weight);
      editBones(clone, this.edits[index], this.places[index]);
      clone.matrix.copy(this.places[index]);
      clone.updateMatrixWorld(true);
      callback(clone, index);
      restore();
    });
  }

  override worst(where: (index: number, vertex: number, target: Vector3) => Vector3, step = 1): number {
    let worst = 0;
    this.forEachPosed((clone, index) => {
      const off = farthestVertex(clone, (vertex, target) => where(index, vertex, target), step);
      if (!(off <= worst)) worst = off;
    });
    return worst;
  }

  private liveWeight(index: number): number {
    const live = this.lives[index];
    if (live === null) return 0;
    const { from, to, start, seconds } = live;
    return seconds > 0 ? from + (to - from) * Math.min((this.time - start) / seconds, 1) : to;
  }
}

/** Names of a character's joints that one object alone has. */
export function editableJoints(crowd: SkinnedInstancedMesh, root: Object3D): string[] {
  const found = new Map<string, number>();
  root.traverse(({ name }) => found.set(name, (found.get(name) ?? 0) + 1));
  return [...new Set(crowd.boneTexture.jointNames)].filter(
    (name) => found.get(name) === 1 && root.getObjectByName(name) !== root,
  );
}

/**
 * An edit by chance, of a bone of a character of some height. It leaves the bone near the character, also where nodes above it
 * scale: a float32 is the coarser the further away it is.
 */
function randomEdit(next: () => number, bone: Object3D, height: number): BoneEdit {
  const around = (size: number) =>
    new Vector3(next() - 0.5, next() - 0.5, next() - 0.5).multiplyScalar(2 * size);
  const weight = next() < 0.4 ? 1 : next();
  const add = next() < 0.5;
  const model = next() < 0.5;
  const kind = Math.floor(next() * 5);
  if (kind === 0) {
    const value = new Quaternion(next() - 0.5, next() - 0.5, next() - 0.5, next() - 0.5).normalize();
    return { kind: 'rotation', value, add, model, weight };
  }
  if (kind === 1) {
    const value = around(0.3 * height);
    bone.updateWorldMatrix(true, false);
    if (!model) value.divideScalar(bone.parent!.matrixWorld.getMaxScaleOnAxis());
    return { kind: 'position', value, add, model, weight };
  }
  if (kind === 2) {
    // Even: uneven ones shear what is turned relative to the root, which bones cannot show.
    const size = 0.6 + next();
    return { kind: 'scale', value: new Vector3(size, size, size), add, weight };
  }
  if (kind === 3) return { kind: 'proportion', value: new Vector3().setScalar(0.6 + next()) };
  const axis = around(1);
  return {
    kind: 'lookAt',
    target: around(3 * height),
    axis,
    limit: next() < 0.3 ? Math.PI : next() * 2,
    weight,
  };
}
