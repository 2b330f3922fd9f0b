import {
  type AnimationAction,
  type AnimationClip,
  AnimationMixer,
  LoopOnce,
  type Matrix4,
  type Mesh,
  type Object3D,
  type SkinnedMesh,
  Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';

const _vertex = new Vector3();

/** three.js's own answer: a clone of the character, posed by an AnimationMixer. */
export class Reference {
  readonly root: Object3D;
  readonly mixer: AnimationMixer;
  readonly meshes: Mesh[];
  action: AnimationAction | null = null;

  constructor(source: Object3D, matrix?: Matrix4) {
    this.root = SkeletonUtils.clone(source) as Object3D;
    if (matrix) {
      this.root.matrixAutoUpdate = false;
      this.root.matrix.copy(matrix);
    }
    this.mixer = new AnimationMixer(this.root);
    this.meshes = drawnMeshes(this.root);
  }

  /** Shows the clip at a time from 0 to its duration, both included. */
  pose(clip: AnimationClip, time: number): this {
    this.mixer.stopAllAction();
    this.action = this.mixer.clipAction(clip);
    this.action.reset().setLoop(LoopOnce, 1);
    this.action.clampWhenFinished = true;
    this.action.play();
    this.mixer.setTime(time);
    this.root.updateMatrixWorld(true);
    return this;
  }

  /** Calls back with the world position of each vertex, in the order in which baking merges the meshes. */
  forEachVertex(callback: (vertex: number, position: Vector3) => void): void {
    let at = 0;
    for (const mesh of this.meshes) {
      const { count } = mesh.geometry.getAttribute('position');
      for (let i = 0; i < count; i++)
        callback(at++, mesh.getVertexPosition(i, _vertex).applyMatrix4(mesh.matrixWorld));
    }
  }
}

/** Visible meshes under a root, skinned ones first. */
export function drawnMeshes(root: Object3D): Mesh[] {
  const meshes: Mesh[] = [];
  root.traverseVisible((node) => {
    if ((node as Mesh).isMesh) meshes.push(node as Mesh);
  });
  const skinned = (mesh: Mesh) => (mesh as SkinnedMesh).isSkinnedMesh === true;
  return [...meshes.filter(skinned), ...meshes.filter((mesh) => !skinned(mesh))];
}
