import { Color, Mesh, Vector2 } from 'three';
import type { CharacterMesh, SkinnedInstancedMesh } from '../library.js';
import type { Attached, CrowdProgram } from './CrowdProgram.js';
import { addLevelTo } from './levels.js';

const PARTS = ['Body', 'Sword', 'Shield'];
/** What a crowd is simply set to. */
const KEYS = [
  'shadowLevel',
  'levelFade',
  'perObjectFrustumCulled',
  'sortObjects',
  'maxVisible',
  'maxTriangles',
] as const;
const _color = new Color();
const _offset = new Vector2();

/** A crowd made from scratch, that is given what that of a program has now. */
export function rebuilt(program: CrowdProgram): { crowd: SkinnedInstancedMesh; attached: Attached[] } {
  const { crowd: source, ids } = program;
  const crowd = program.create(source.capacity, source.boneTexture);
  crowd.material = source.material;
  crowd.count = source.count;
  crowd.seeds.copy(source.seeds);
  crowd.motion = source.motion;
  crowd.update(source.elapsed);
  crowd.playbackFromJSON(JSON.parse(JSON.stringify(source.playbackToJSON())));
  crowd.position.copy(source.position);
  crowd.quaternion.copy(source.quaternion);
  for (const level of program.levels) addLevelTo(crowd, level, program.hasJoints);
  crowd.levels[0].poseRate = program.nearPoseRate;
  for (const key of KEYS) Object.assign(crowd, { [key]: source[key] });
  crowd.setCustomSort(source.customSort);
  for (const id of ids) copyInstance(source, crowd, id, program);

  const attached: Attached[] = [];
  for (const one of program.attached) {
    const owner = one.owner === null ? null : attached[program.attached.indexOf(one.owner)];
    const mesh = (owner?.mesh ?? crowd).attachToJoint(one.joint, one.geometry, one.material, one.offset);
    for (const { geometry, from } of one.levels) {
      if (geometry === null) mesh.addLevel(null, from);
      else mesh.addLevel(geometry, from);
    }
    mesh.count = one.mesh.count;
    for (const id of ids) {
      copyColor(one.mesh, mesh, id);
      mesh.setPartVisibleAt(id, 0, one.mesh.getPartVisibleAt(id, 0));
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
  for (const part of PARTS) {
    crowd.setPartVisibleAt(id, part, source.getPartVisibleAt(id, part));
    // A white one makes shaders read colours, which rounds otherwise.
    if (source.instanceColor !== null)
      crowd.setPartColorAt(id, part, source.getPartColorAt(id, part, _color));
    crowd.setPartMapOffsetAt(id, part, source.getPartMapOffsetAt(id, part, _offset));
  }
  crowd.setEmissiveAt(id, source.getEmissiveAt(id, _color));
  crowd.setOpacityAt(id, source.getOpacityAt(id));
  crowd.setRoughnessAt(id, source.getRoughnessAt(id));
  crowd.setUniformAt(id, 'dirt', source.getUniformAt(id, 'dirt'));
  for (const make of edits.get(id)?.values() ?? []) make(crowd, id);
  // Behind proportions, which write them too.
  const held = Object.assign(new Mesh(), { morphTargetInfluences: [0] });
  if (source.morphTexture && source.geometry.morphAttributes.position) {
    source.getMorphAt(id, held);
    crowd.setMorphAt(id, held);
  }
}

function copyColor(source: CharacterMesh, target: CharacterMesh, id: number): void {
  if (source.instanceColor === null) return;
  target.setColorAt(id, _color.fromBufferAttribute(source.instanceColor, id));
}
