import { Color, Mesh, Vector2 } from 'three';
import { morphsOf, orderOf, partsOf } from '../features.js';
import { addAttachmentLevel, levelsOf } from '../levels.js';
import type { CrowdMesh, InstanceMotions, SkinnedInstancedMesh } from '../library.js';
import {
  AnimationLayers,
  DrawOrder,
  featureOf,
  JointAttachment,
  loadPlayback,
  savePlayback,
} from '../library.js';
import { moveBy } from '../moveBy.js';
import type { Attached, CrowdProgram } from './CrowdProgram.js';
import { uniformsOf } from './features.js';
import { copyKinds } from './kinds.js';
import { addLevelTo } from './levels.js';

const PARTS = ['Body', 'Sword', 'Shield'];
const _color = new Color();
const _offset = new Vector2();

/** A crowd made from scratch, that is given what that of a program has now. */
export function rebuilt(program: CrowdProgram): { crowd: SkinnedInstancedMesh; attached: Attached[] } {
  const { crowd: source, ids } = program;
  const crowd = program.create(source.capacity, source.boneTexture);
  if (featureOf(source, AnimationLayers) === null) featureOf(crowd, AnimationLayers)?.dispose();
  if (source.uniforms === null) uniformsOf(crowd).dispose();
  crowd.material = source.material;
  crowd.count = source.count;
  const moved = source.instanceMotions as InstanceMotions | null;
  if (moved !== null) moveBy(crowd, ...moved.motions).seeds.copy(moved.seeds);
  crowd.update(source.elapsed);
  loadPlayback(crowd, JSON.parse(JSON.stringify(savePlayback(source))));
  crowd.position.copy(source.position);
  crowd.quaternion.copy(source.quaternion);
  const { dissolve, shadowLevel } = levelsOf(source);
  Object.assign(levelsOf(crowd), { dissolve, shadowLevel });
  for (const level of program.levels) addLevelTo(crowd, level, program.hasJoints);
  levelsOf(crowd).levels[0].poseRate = program.nearPoseRate;
  crowd.perObjectFrustumCulled = source.perObjectFrustumCulled;
  if (featureOf(source, DrawOrder) !== null) orderOf(crowd).copy(orderOf(source));
  for (const id of ids) copyInstance(source, crowd, id, program);

  copyKinds(source, crowd, ids);

  const attached: Attached[] = [];
  for (const one of program.attached) {
    const owner = one.owner === null ? null : attached[program.attached.indexOf(one.owner)];
    const mesh = new JointAttachment(owner?.mesh ?? crowd, one.joint, one.geometry, one.material, {
      offset: one.offset,
    });
    for (const { geometry, from } of one.levels) {
      if (geometry === null) addAttachmentLevel(mesh, null, from);
      else addAttachmentLevel(mesh, geometry, from);
    }
    mesh.count = one.mesh.count;
    for (const id of ids) {
      copyColor(one.mesh, mesh, id);
      partsOf(mesh).setVisibleAt(id, 0, partsOf(one.mesh).getVisibleAt(id, 0));
    }
    attached.push({ ...one, mesh: mesh as Attached['mesh'], owner });
  }
  return { crowd, attached };
}

function copyInstance(
  source: SkinnedInstancedMesh,
  crowd: SkinnedInstancedMesh,
  id: number,
  { edits }: CrowdProgram,
): void {
  crowd.instanceMatrix.array.set(source.instanceMatrix.array.slice(id * 16, id * 16 + 16), id * 16);
  copyColor(source, crowd, id);
  for (const part of source.instanceParts === null ? [] : PARTS) {
    partsOf(crowd).setVisibleAt(id, part, partsOf(source).getVisibleAt(id, part));
    // A white one makes shaders read colours, which rounds otherwise.
    if (source.instanceColor !== null)
      partsOf(crowd).setColorAt(id, part, partsOf(source).getColorAt(id, part, _color));
    partsOf(crowd).setMapOffsetAt(id, part, partsOf(source).getMapOffsetAt(id, part, _offset));
  }
  if (source.uniforms !== null) {
    const [from, to] = [uniformsOf(source), uniformsOf(crowd)];
    to.setAt(id, 'emissive', from.getAt(id, 'emissive', _color));
    for (const name of ['opacity', 'roughness', 'dirt']) to.setAt(id, name, from.getAt(id, name));
  }
  for (const make of edits.get(id)?.values() ?? []) make(crowd, id);
  // Behind proportions, which write them too.
  const held = Object.assign(new Mesh(), { morphTargetInfluences: [0] });
  if (source.morphTexture && source.geometry.morphAttributes.position) {
    source.getMorphAt(id, held);
    morphsOf(crowd);
    crowd.setMorphAt(id, held);
  }
}

function copyColor(source: CrowdMesh, target: CrowdMesh, id: number): void {
  if (source.instanceColor === null) return;
  target.setColorAt(id, _color.fromBufferAttribute(source.instanceColor, id));
}
