import { type Motion, setBoneTexture } from 'skinned-instanced-mesh';
import { breathing } from '../../../demos/lib/motions/breathing.js';
import { flutter } from '../../../demos/lib/motions/flutter.js';
import { wind } from '../../../demos/lib/motions/wind.js';
import { orderOf } from '../features.js';
import { moveBy } from '../moveBy.js';
import type { Attached, Step } from './CrowdProgram.js';
import { texturesOf } from './figure.js';

/** How the crowd is drawn, and what it is. */
export const DRAWING: readonly Step[] = Object.values<Step>({
  culled: (p) => (p.crowd.perObjectFrustumCulled = p.dice.chance(0.7)),
  sorted: (p) => (orderOf(p.crowd).sortObjects = p.dice.chance(0.5)),
  budget: (p) => (orderOf(p.crowd).maxVisible = p.dice.pick([Infinity, Infinity, 3, 1])),
  customSort: (p) =>
    (orderOf(p.crowd).customSort = p.dice.chance(0.5)
      ? null
      : (list) => list.sort((a, b) => a.index - b.index)),
  motion(p) {
    const { dice } = p;
    moveBy(
      p.crowd,
      ...dice.pick<() => Motion[]>([
        () => [],
        () => [wind({ strength: 0.5 })],
        () => [breathing({ depth: 0.1 }), flutter()],
        () => [wind({ strength: 0.2 }), breathing()],
      ])(),
    );
  },
  boneTexture(p) {
    const { source, layers } = p.kind;
    const sources = layers ? (['tracks'] as const) : (['tracks', 'frames'] as const);
    const other = p.dice.pick(texturesOf(p.hasJoints ? p.dice.pick(sources) : source));
    // What follows joints by hand is of encoding 'tracks' alone, and ends with another one.
    if (p.edits.size > 0 && other.encoding !== 'tracks') return;
    setBoneTexture(p.crowd, other);
  },
  geometry: (p) => (p.crowd.geometry = p.crowd.geometry.clone()),
  material(p) {
    const { material } = p.crowd;
    p.crowd.material = Array.isArray(material) ? material.map((one) => one.clone()) : material.clone();
  },
  moveCrowd(p) {
    const { dice, crowd } = p;
    crowd.position.copy(dice.vector(2));
    // Not below the ground.
    crowd.position.y = Math.abs(crowd.position.y);
    crowd.rotation.y = dice.next();
  },
  becomeClone(p) {
    // A copy has no objects, so that nobody's objects move it.
    if (p.isDisposed) return;
    for (const knight of p.livingKnights) {
      p.edits.delete(knight.instanceId);
      knight.dispose();
    }
    const before = p.state();
    const copy = p.dice.chance(0.5) ? p.crowd.clone() : p.create(1).copy(p.crowd);
    p.scene.remove(p.crowd);
    const places = p.attached.map(({ mesh, owner }) => (owner?.mesh ?? p.crowd).children.indexOf(mesh));
    const found: Attached[] = [];
    p.attached.forEach((one, i) => {
      const owner = one.owner === null ? null : found[p.attached.indexOf(one.owner)];
      found.push({ ...one, owner, mesh: (owner?.mesh ?? copy).children[places[i]] as typeof one.mesh });
    });
    p.attached = found;
    p.crowd.dispose();
    p.crowd = copy;
    if (p.state() !== before) throw new Error(`the copy has ${p.state()}, the crowd ${before}`);
    p.scene.add(copy);
  },
  toJSON: (p) => p.crowd.toJSON(),
});
