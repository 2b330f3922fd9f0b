import { BoxGeometry, Matrix4, MeshStandardMaterial, Vector3 } from 'three';
import { createCharacter } from '../../../demos/character.js';
import { editsOf, partsOf } from '../features.js';
import { addAttachmentLevel } from '../levels.js';
import { featureOf, JointAttachment, JointEdits } from '../library.js';
import type { Attached, Step } from './CrowdProgram.js';

const JOINTS = ['Hips', 'Spine', 'Head', 'RightHand', 'LeftHand', 'LeftFoot'];

const boxes = [new BoxGeometry(0.3, 0.15, 0.3), new BoxGeometry(0.1, 0.6, 0.1)];
const paints = [0xff8800, 0x0088ff].map((color) => new MeshStandardMaterial({ color }));

/** What live poses are copied from. */
const ragdoll = createCharacter({ detail: 0.15 }).root;

/** Edits of joints, live poses, and what is attached. */
export const SHAPE: readonly Step[] = Object.values<Step>({
  editJoint(p) {
    const { id, dice } = p;
    if (!p.isTracks) return;
    const joint = dice.pick(JOINTS);
    const mode = dice.pick(['replace', 'add'] as const);
    const weight = dice.pick([1, 1, 0.5]);
    const [turn, move, size] = [
      dice.rotation(),
      dice.vector(0.3),
      new Vector3().setScalar(0.5 + dice.next()),
    ];
    const target = dice.vector(5);
    p.edit(
      id,
      ...dice.pick<[string, (crowd: typeof p.crowd, id: number) => void]>([
        [`turn ${joint}`, (crowd, i) => editsOf(crowd).setRotationAt(i, joint, turn, { mode, weight })],
        [`move ${joint}`, (crowd, i) => editsOf(crowd).setPositionAt(i, joint, move, { mode, weight })],
        [`size ${joint}`, (crowd, i) => editsOf(crowd).setScaleAt(i, joint, size, { mode, weight })],
        [`look ${joint}`, (crowd, i) => editsOf(crowd).lookAt(i, joint, target, { weight })],
        [`built ${joint}`, (crowd, i) => editsOf(crowd).setProportionsAt(i, { [joint]: size })],
      ]),
    );
  },
  clearEdits(p) {
    const { id } = p;
    featureOf(p.crowd, JointEdits)?.clearAt(id);
    for (const key of p.edits.get(id)?.keys() ?? []) {
      if (!/^(built|pose)/.test(key)) p.edits.get(id)?.delete(key);
    }
  },
  ownBuild(p) {
    const { id } = p;
    featureOf(p.crowd, JointEdits)?.setProportionsAt(id, null);
    for (const key of p.edits.get(id)?.keys() ?? [])
      if (key.startsWith('built')) p.edits.get(id)?.delete(key);
  },
  pose(p) {
    const { id, dice } = p;
    if (!p.isTracks) return;
    if (dice.chance(0.3)) {
      editsOf(p.crowd).setPoseAt(id, null);
      p.edits.get(id)?.delete('pose');
      return;
    }
    const held = ragdoll.clone();
    held.traverse((bone) => {
      if (!(bone as { isBone?: boolean }).isBone) return;
      bone.quaternion.copy(dice.rotation());
      bone.position.add(dice.vector(0.2));
    });
    p.edit(id, 'pose', (crowd, i) => editsOf(crowd).setPoseAt(i, held));
  },
  attach(p) {
    const { dice, crowd } = p;
    if (p.attached.length > 3 || !p.hasJoints) return;
    const owner = p.attached.length > 0 && dice.chance(0.3) ? dice.pick(p.attached) : null;
    const joint = dice.pick(JOINTS);
    const [geometry, material] = [dice.pick(boxes), dice.pick(paints)];
    const offset = new Matrix4().makeTranslation(0, 0.3 * dice.next(), 0);
    const mesh = new JointAttachment(owner?.mesh ?? crowd, joint, geometry, material, { offset });
    p.attached.push({ mesh, owner, joint, geometry, material, offset, levels: [] } as unknown as Attached);
  },
  detach(p) {
    const leaf = p.attached.find((one) => p.attached.every(({ owner }) => owner !== one));
    if (leaf === undefined || p.dice.chance(0.5)) return;
    leaf.mesh.dispose();
    p.attached = p.attached.filter((one) => one !== leaf);
  },
  paintAttached(p) {
    if (p.attached.length === 0) return;
    const { dice, id } = p;
    const { mesh } = dice.pick(p.attached);
    mesh.setColorAt(id, dice.color());
    partsOf(mesh).setVisibleAt(id, 0, dice.chance(0.7));
  },
  attachedLevel(p) {
    if (p.attached.length === 0) return;
    const { dice } = p;
    const one = dice.pick(p.attached);
    if (one.levels.length > 0 || one.mesh.owner === null) return;
    const from = 1 + dice.below(2);
    const geometry = dice.chance(0.6) ? dice.pick(boxes) : null;
    if (geometry === null) addAttachmentLevel(one.mesh, null, from);
    else addAttachmentLevel(one.mesh, geometry, from);
    one.levels.push({ geometry, from });
  },
});
