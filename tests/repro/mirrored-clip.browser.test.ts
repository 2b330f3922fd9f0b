import {
  AnimationClip,
  type KeyframeTrack,
  Mesh,
  MeshStandardMaterial,
  SphereGeometry,
  VectorKeyframeTrack,
  WebGLRenderer,
} from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { createPair } from '../support/pair.js';
import { createStage, difference, picture } from '../support/pictures.js';

test('what a clip mirrors is drawn with the right side out, skinned and rigid', () => {
  const { root, clips } = createCharacter();
  const ball = new Mesh(
    new SphereGeometry(0.25, 16, 12).translate(0.6, 0.3, 0),
    new MeshStandardMaterial({ color: 0xff8800 }),
  );
  ball.name = 'Ball';
  root.add(ball);
  const walk = clips.find(({ name }) => name === 'Walk') as AnimationClip;
  const { duration } = walk;
  const flip = (name: string, from: number[], to: number[]) =>
    new VectorKeyframeTrack(
      `${name}.scale`,
      [0, duration / 2, duration],
      [...from, ...from, ...to],
    ) as KeyframeTrack;
  const inside = root.children.map(({ name }) => flip(name, [1, 1, 1], [-1, 1, 1]));
  const model = {
    name: 'Mirrored',
    root,
    clips: [new AnimationClip('Mirrored', duration, [...walk.tracks, ...inside])],
  };

  const renderer = new WebGLRenderer();
  renderer.shadowMap.enabled = true;
  for (const share of [0.25, 1]) {
    const { reference, crowd, bounds } = createPair(model, 0, share);
    const { scene, camera } = createStage(bounds, 'directional');
    const empty = picture(renderer, scene, camera, new Mesh());
    const expected = picture(renderer, scene, camera, reference.root);
    const drawn = picture(renderer, scene, camera, crowd);
    const { covered, wrong } = difference(expected, drawn, empty);
    expect(covered).toBeGreaterThan(2000);
    expect(wrong, `${share} of the clip`).toBeLessThan(0.01);
    crowd.dispose();
  }
  renderer.dispose();
});
