import { Mesh, Vector2 } from 'three';
import { morphsOf, partsOf } from '../features.js';
import type { Step } from './CrowdProgram.js';
import { uniformsOf } from './features.js';

/** Where instances stand, how they look, and that they come and go. */
export const INSTANCES: readonly Step[] = Object.values<Step>({
  place(p) {
    p.crowd.setMatrixAt(p.id, p.dice.place());
    p.crowd.instanceMatrix.needsUpdate = true;
  },
  placeAll(p) {
    for (const id of p.ids) p.crowd.setMatrixAt(id, p.dice.place());
    p.crowd.instanceMatrix.needsUpdate = true;
  },
  color: (p) => p.crowd.setColorAt(p.id, p.dice.color()),
  emissive: (p) => uniformsOf(p.crowd).setAt(p.id, 'emissive', p.dice.color()),
  roughness: (p) => uniformsOf(p.crowd).setAt(p.id, 'roughness', p.dice.pick([null, 0, 0.5])),
  dirt: (p) => uniformsOf(p.crowd).setAt(p.id, 'dirt', p.dice.next()),
  part(p) {
    const { id, dice } = p;
    partsOf(p.crowd).setVisibleAt(id, dice.pick(['Body', 'Sword', 'Shield']), dice.chance(0.5));
  },
  partColor(p) {
    const { id, dice } = p;
    partsOf(p.crowd).setColorAt(id, dice.pick(['Body', 'Sword', 'Shield']), dice.color());
  },
  partMapOffset(p) {
    const { id, dice } = p;
    partsOf(p.crowd).setMapOffsetAt(id, 'Body', new Vector2(dice.next(), dice.next()));
  },
  morph(p) {
    if (!p.hasJoints) return;
    const object = Object.assign(new Mesh(), { morphTargetInfluences: [p.dice.next()] });
    morphsOf(p.crowd);
    p.crowd.setMorphAt(p.id, object);
  },
  hide: (p) => p.crowd.setVisibleAt(p.id, p.dice.chance(0.5)),
  add(p) {
    const id = p.crowd.addInstance();
    p.edits.delete(id);
    p.crowd.setMatrixAt(id, p.dice.place());
    p.crowd.instanceMatrix.needsUpdate = true;
  },
  remove(p) {
    const { ids } = p;
    if (ids.length < 3) return;
    const id = p.dice.pick(ids);
    p.note(`${id}`);
    p.crowd.deleteInstance(id);
    p.edits.delete(id);
  },
  optimize: (p) => p.crowd.optimize(),
  count(p) {
    const { crowd, dice } = p;
    crowd.count = dice.below(crowd.capacity + 1);
  },
  capacity(p) {
    const { crowd, dice } = p;
    crowd.setCapacity(crowd.count + dice.below(5) * dice.pick([1, 1, 40]));
    for (const id of p.edits.keys()) if (id >= crowd.capacity) p.edits.delete(id);
  },
  swap(p) {
    const { id: i, id: j, edits } = p;
    p.note(`${i} ${j}`);
    p.crowd.swapInstances(i, j);
    const [one, other] = [edits.get(i), edits.get(j)];
    edits.delete(i);
    edits.delete(j);
    if (one) edits.set(j, one);
    if (other) edits.set(i, other);
  },
});
