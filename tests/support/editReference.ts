import { Matrix4, type Object3D, Quaternion, Vector3 } from 'three';

/** What is done to a bone after the mixer, as user code does it with three.js alone. */
export type BoneEdit =
  | { kind: 'rotation'; value: Quaternion; add: boolean; model: boolean; weight: number }
  | { kind: 'position'; value: Vector3; add: boolean; model: boolean; weight: number }
  | { kind: 'scale'; value: Vector3; add: boolean; weight: number }
  | { kind: 'proportion'; value: Vector3 }
  | { kind: 'lookAt'; target: Vector3; axis: Vector3; limit: number; weight: number };

/** Edits of one character by bone: at most one of each kind. */
export type BoneEdits = Map<string, Map<BoneEdit['kind'], BoneEdit>>;

const ONE = new Vector3(1, 1, 1);

/**
 * Edits the bones of a character that stands at the origin: first local transforms, then proportions, then, from the root
 * down, what is relative to the character, and what looks at something.
 *
 * @param place Where the character will stand; targets are in the space that this is relative to.
 */
export function editBones(root: Object3D, edits: BoneEdits, place: Matrix4): void {
  const bones: Object3D[] = [];
  root.traverse((node) => {
    if (edits.has(node.name) && root.getObjectByName(node.name) === node) bones.push(node);
  });
  const editsOf = (bone: Object3D) => [...(edits.get(bone.name) as Map<string, BoneEdit>).values()];
  for (const bone of bones) for (const edit of editsOf(bone)) editLocally(bone, edit);
  for (const bone of bones) {
    for (const edit of editsOf(bone)) if (edit.kind === 'proportion') bone.scale.multiply(edit.value);
  }
  for (const bone of bones) {
    const models = editsOf(bone).filter((edit) => edit.kind === 'lookAt' || ('model' in edit && edit.model));
    models.sort((a, b) => Number(a.kind === 'lookAt') - Number(b.kind === 'lookAt'));
    for (const edit of models) editInModel(root, bone, edit, place);
  }
}

function editLocally(bone: Object3D, edit: BoneEdit): void {
  if (edit.kind === 'proportion' || edit.kind === 'lookAt' || ('model' in edit && edit.model)) return;
  const { weight } = edit;
  if (edit.kind === 'rotation') {
    bone.quaternion.slerp(edit.add ? bone.quaternion.clone().multiply(edit.value) : edit.value, weight);
  } else if (edit.kind === 'position') {
    if (edit.add) bone.position.addScaledVector(edit.value, weight);
    else bone.position.lerp(edit.value, weight);
  } else if (edit.add) {
    bone.scale.multiply(ONE.clone().lerp(edit.value, weight));
  } else {
    bone.scale.lerp(edit.value, weight);
  }
}

function editInModel(root: Object3D, bone: Object3D, edit: BoneEdit, place: Matrix4): void {
  if (edit.kind === 'proportion') return;
  root.updateMatrixWorld(true);
  const { weight } = edit;
  const parent = bone.parent!;
  if (edit.kind === 'position') {
    const now = new Vector3().setFromMatrixPosition(bone.matrixWorld);
    if (edit.add) now.addScaledVector(edit.value, weight);
    else now.lerp(edit.value, weight);
    bone.position.copy(parent.worldToLocal(now));
    return;
  }
  const now = bone.getWorldQuaternion(new Quaternion());
  if (edit.kind === 'rotation') {
    now.slerp(edit.add ? edit.value.clone().multiply(now) : edit.value, weight);
  } else if (edit.kind === 'lookAt') {
    const from = edit.axis.clone().transformDirection(bone.matrixWorld);
    const target = edit.target.clone().applyMatrix4(new Matrix4().copy(place).invert());
    const to = target.sub(new Vector3().setFromMatrixPosition(bone.matrixWorld)).normalize();
    const turn = new Quaternion().rotateTowards(new Quaternion().setFromUnitVectors(from, to), edit.limit);
    now.premultiply(new Quaternion().slerp(turn, weight));
  }
  bone.quaternion.copy(parent.getWorldQuaternion(new Quaternion()).invert().multiply(now));
}

/** Blends the transforms of a character towards those of another, bone by bone, by name. */
export function blendBones(root: Object3D, live: Object3D, weight: number): void {
  live.traverse((from) => {
    const to = root.getObjectByName(from.name);
    if (from.name === '' || to === undefined || to === root) return;
    to.quaternion.slerp(from.quaternion, weight);
    to.position.lerp(from.position, weight);
    to.scale.lerp(from.scale, weight);
  });
}

/** Remembers the transforms under a root; the function that it returns puts them back. */
export function keepTransforms(root: Object3D): () => void {
  const kept: [Object3D, Vector3, Quaternion, Vector3][] = [];
  root.traverse((node) => {
    kept.push([node, node.position.clone(), node.quaternion.clone(), node.scale.clone()]);
  });
  return () => {
    for (const [node, position, quaternion, scale] of kept) {
      node.position.copy(position);
      node.quaternion.copy(quaternion);
      node.scale.copy(scale);
    }
  };
}
