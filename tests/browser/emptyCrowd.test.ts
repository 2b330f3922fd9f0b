import { Box3, BoxGeometry, MeshStandardMaterial, Object3D, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { breathing } from '../../demos/lib/motions/breathing.js';
import { TWINS } from '../support/captures.js';
import { drawingOf } from '../support/drawings.js';
import { createEverything } from '../support/everything.js';
import {
  AnimationLayers,
  bakeCharacter,
  CrowdLevels,
  DrawOrder,
  ENCODINGS,
  encodingOf,
  InstanceMorphs,
  InstanceMotions,
  InstanceParts,
  InstanceUniforms,
  JointAttachment,
  JointEdits,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';
import { watchProblems } from '../support/problems.js';
import { NIGHTLY } from '../support/thorough.js';

/** What there may be of a crowd before its first instance. */
const FEATURES: Record<string, (crowd: SkinnedInstancedMesh) => unknown> = {
  nothing: () => {},
  everything: (crowd) => {
    new InstanceUniforms(crowd, { emissive: 'color' });
    new InstanceParts(crowd);
    new InstanceMorphs(crowd);
    new InstanceMotions(crowd, breathing());
    new CrowdLevels(crowd).add(crowd.geometry, 3);
    const { jointNames, encoding } = crowd.boneTexture;
    new JointAttachment(crowd, jointNames[0], new BoxGeometry(), new MeshStandardMaterial());
    crowd.colors.need();
    if (encoding === 'frames') return;
    new JointEdits(crowd);
    new AnimationLayers(crowd, [{ name: 'Top' }]);
  },
  order: (crowd) => new DrawOrder(crowd, { sortObjects: true }),
  'whole, with parts': (crowd) => {
    crowd.perObjectFrustumCulled = false;
    new InstanceParts(crowd);
  },
};

test.each(TWINS)('crowds are drawn and compiled before their first instance, %s', async (twin) => {
  const drawing = await drawingOf(twin);
  const { renderer, draw } = drawing;
  const problems = watchProblems(renderer as never);
  const box = new Box3(new Vector3(-2, 0, -2), new Vector3(2, 2, 2));
  const { scene, camera } = createStage(box);
  const { root, clips } = createEverything();
  const nobody = await draw(scene, camera, new Object3D());
  for (const encoding of ENCODINGS) {
    const character = bakeCharacter(root, clips, { encoding: encodingOf(encoding) });
    const half = Object.entries(FEATURES).filter((_, i) => NIGHTLY || i < 2 === (encoding === 'tracks'));
    for (const [name, add] of half) {
      const [crowd, full] = [0, 1].map((count) => new SkinnedInstancedMesh(character, count));
      for (const one of [crowd, full]) add(one);
      scene.add(crowd);
      await renderer.compileAsync(scene, camera);
      expect(changedPixels(await draw(scene, camera, crowd), nobody, 0), `nobody: ${name}`).toBe(0);
      crowd.addInstance();
      for (const one of [crowd, full]) one.play(0, 0, { time: 0.5 }).update(0);
      const expected = await draw(scene, camera, full);
      expect(changedPixels(expected, nobody), name).toBeGreaterThan(500);
      expect(changedPixels(await draw(scene, camera, crowd), expected, 0), name).toBe(0);
      crowd.deleteInstance(0).optimize();
      crowd.setCapacity(0);
      expect(changedPixels(await draw(scene, camera, crowd), nobody, 0), `nobody again: ${name}`).toBe(0);
      expect(problems(), `${name}, ${encoding}`).toEqual([]);
      for (const one of [crowd, full]) one.dispose().removeFromParent();
    }
  }
  problems.stop();
  drawing.dispose();
});
