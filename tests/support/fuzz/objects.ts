import { SkinnedInstance } from 'skinned-instanced-mesh';
import { LoopOnce, Object3D } from 'three';
import type { Step } from './CrowdProgram.js';
import { CLIP_NAMES as NAMES } from './figure.js';

/** Instances as objects of the scene. */
export const OBJECTS: readonly Step[] = Object.values<Step>({
  create(p) {
    if (p.livingKnights.length > 5) return;
    const knight = new SkinnedInstance(p.crowd);
    p.edits.delete(knight.instanceId);
    knight.position.copy(p.dice.vector(5)).setY(0);
    p.knights.push(knight);
  },
  moveObject(p) {
    const { dice } = p;
    const [knight] = p.livingKnights;
    if (!knight) return;
    knight.position.copy(dice.vector(5));
    knight.position.y = Math.abs(knight.position.y);
    knight.rotation.y = dice.next();
    knight.visible = dice.chance(0.8);
  },
  reparent(p) {
    const knight = p.livingKnights[0];
    if (!knight) return;
    const group = new Object3D();
    group.position.copy(p.dice.vector(2));
    group.position.y = Math.abs(group.position.y);
    p.scene.add(group);
    if (p.dice.chance(0.5)) group.add(knight);
    else p.crowd.add(knight);
  },
  disposeObject(p) {
    const knights = p.livingKnights;
    if (knights.length === 0) return;
    const knight = p.dice.pick(knights);
    p.edits.delete(knight.instanceId);
    knight.dispose();
  },
  act(p) {
    const knights = p.livingKnights.filter(({ instanceId }) => instanceId < p.crowd.count);
    if (knights.length === 0 || !p.isTracks) return;
    const { dice } = p;
    const action = (dice.pick(knights) as SkinnedInstance).clipAction(dice.pick(NAMES));
    dice.pick([
      () => action.reset().play(),
      () => action.play().fadeIn(0.5),
      () => action.fadeOut(0.25),
      () => action.stop(),
      () => action.play().setEffectiveWeight(0.5),
      () => action.play().setLoop(LoopOnce, 1),
    ])();
  },
  dressObject(p) {
    const knights = p.livingKnights as SkinnedInstance[];
    if (knights.length === 0) return;
    const knight = p.dice.pick(knights);
    knight.color.copy(p.dice.color());
  },
});
