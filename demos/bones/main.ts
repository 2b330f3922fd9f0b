import { bakeCharacter, SkinnedInstance } from 'skinned-instanced-mesh';
import { type AnimationClip, AnimationMixer, type Object3D, SkeletonHelper, Vector3 } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { Figures } from '../lib/Figures.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, secondsBetween, slide, toggle } from '../lib/page.js';
import { crowdRadius, placeOf } from '../lib/plan.js';
import { Ring } from '../lib/Ring.js';
import { addLevels, createPeople, dress, dressClone } from '../people.js';
import { moveBones, setArmed } from './equip.js';

const HEIGHT = 1.8;
/** Width of a character with some room around it. */
const SIZE = 1.3;
/** Places that stay free around those in the middle. */
const CLEARING = 20;
/** Characters around the two in the middle. */
const OTHERS = 60;

const { query, detail, Crowd, InstanceParts, JointEdits, stage, measure } = await openStage();
const figures = new Figures(find('tbody'), ['crowd']);
const shown = { look: 0.8, head: 1, arms: 1 };

// --- an instance, and three.js's own beside it ---

const { root, clips } = createPeople({ detail });
const walk = clips.find(({ name }) => name === 'Walk') as AnimationClip;
root.traverse((node) => {
  node.castShadow = true;
});
const crowd = new Crowd(bakeCharacter(root, clips), 0);
crowd.castShadow = true;
crowd.receiveShadow = true;
addLevels(crowd, detail);
const parts = new InstanceParts(crowd);
// What is written to bones, and proportions, are edits of joints.
new JointEdits(crowd);
const knight = new SkinnedInstance(crowd);
dress(parts, knight.instanceId, 0);
knight.clipAction(walk).play();

const clone = SkeletonUtils.clone(root) as Object3D;
dressClone(clone, 0);
const mixer = new AnimationMixer(clone);
mixer.clipAction(walk).play();
const pair = [knight, clone];
pair.forEach((character, i) => {
  character.position.x = (i - 0.5) * SIZE;
});
const ring = new Ring(stage);
ring.position.copy(clone.position);
stage.scene.add(crowd, clone, ring);

// --- many others, each built in its own way ---

const others = Array.from({ length: OTHERS }, (_, i) => {
  const other = new SkinnedInstance(crowd);
  dress(parts, other.instanceId, i + 1);
  other.applyMatrix4(placeOf(i + CLEARING, SIZE, other.matrix.clone()));
  other.clipAction(clips[i % clips.length]).play().time = i * 0.37;
  const size = (of: number) => 0.8 + 0.2 * (((i + 1) * of) % 5);
  other.setProportions({ Head: size(2), LeftUpperArm: size(3), RightUpperArm: size(3) });
  return other;
});

// --- the page ---

/** What proportions do to the instance, done to the bones of the clone: no clip of this character scales them. */
function build(): void {
  const { head, arms } = shown;
  const joints = { Head: head, LeftUpperArm: arms, RightUpperArm: arms };
  knight.setProportions(joints);
  for (const [name, scale] of Object.entries(joints)) clone.getObjectByName(name)?.scale.setScalar(scale);
}

function listen(): void {
  slide('look', (value) => {
    shown.look = value;
  });
  slide('head', (value) => {
    shown.head = value;
    build();
  });
  slide('arms', (value) => {
    shown.arms = value;
    build();
  });
  const helpers = pair.map((character) => new SkeletonHelper(character));
  stage.scene.add(...helpers);
  toggle('skeletons', query.get('skeletons') !== '0', (on) => {
    for (const helper of helpers) helper.visible = on;
  });
  toggle('swords', true, (on) => {
    for (const character of pair) setArmed(character, on);
    others.forEach((character, i) => {
      setArmed(character, on && i % 4 === 0);
    });
  });
}

const _ours = new Vector3();
const _theirs = new Vector3();

/** How far bones of the instance are from those of the clone, at most. */
function farthestBone(): number {
  let worst = 0;
  for (const bone of knight.bones) {
    const twin = clone.getObjectByName(bone.name) as Object3D;
    bone.getWorldPosition(_ours).sub(knight.position);
    twin.getWorldPosition(_theirs).sub(clone.position);
    worst = Math.max(worst, _ours.distanceTo(_theirs));
  }
  return worst;
}

let last = performance.now();
let time = 0;

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  time += delta;
  const cost = measure(() => {
    crowd.update(delta);
    mixer.update(delta);
    for (const character of pair) moveBones(character, time, shown.look);
    stage.controls.update();
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  find('[data-off]').textContent = (farthestBone() / HEIGHT).toExponential(1);
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

stage.shadows = query.get('shadows') !== '0';
stage.frame(HEIGHT, 1.5 * SIZE, crowdRadius(OTHERS + CLEARING, SIZE));
stage.shine(pair[0].position, crowdRadius(OTHERS + CLEARING, SIZE));
try {
  listen();
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
