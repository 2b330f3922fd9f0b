import { defineMotion } from 'skinned-instanced-mesh';
import {
  Box3,
  BufferAttribute,
  type BufferGeometry,
  Color,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Object3D,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { breathing } from '../../demos/lib/motions/breathing.js';
import { flutter } from '../../demos/lib/motions/flutter.js';
import { wind } from '../../demos/lib/motions/wind.js';
import { letRead } from '../support/capture.js';
import { TWINS, useCapture } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { useDrawing } from '../support/drawings.js';
import { expectSamePicture } from '../support/expectSamePicture.js';
import { partsOf } from '../support/features.js';
import { addLevel } from '../support/levels.js';
import {
  bakeCharacter,
  createLevel,
  ENCODINGS,
  encodingOf,
  getVertexPosition,
  JointAttachment,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { bladeRoot, random, somewhere } from '../support/meadow.js';
import { moveBy } from '../support/moveBy.js';
import { changedPixels, createStage } from '../support/pictures.js';

/** How far a vertex on the GPU may be from that of the CPU, in units of the scene. */
const BOUND = 1e-5;

const INSTANCES = 5;

function createGrass(): SkinnedInstancedMesh {
  const crowd = new SkinnedInstancedMesh(bakeCharacter(bladeRoot(), []), INSTANCES);
  const next = random(3);
  for (let i = 0; i < INSTANCES; i++) crowd.setMatrixAt(i, somewhere(next, 8));
  crowd.position.set(1, 0.2, -2);
  crowd.rotation.y = 0.7;
  crowd.updateMatrixWorld();
  return crowd;
}

/** Vertex colours that differ from vertex to vertex. */
function paint(geometry: BufferGeometry): BufferGeometry {
  const { count } = geometry.getAttribute('position');
  const colors = Float32Array.from({ length: count * 3 }, (_, i) => ((i * 7) % 11) / 10);
  return geometry.setAttribute('color', new BufferAttribute(colors, 3));
}

describe.each(TWINS)('%s: vertices are where the CPU has them', (twin) => {
  const how = useCapture(twin);

  /** The farthest that a vertex is from where the CPU has it. */
  async function farthest(crowd: SkinnedInstancedMesh): Promise<number> {
    const count = letRead(crowd, how);
    const drawn = await how.read(crowd, count, crowd.count);
    const vertex = new Vector3();
    const expected = new Vector3();
    let most = 0;
    for (let i = 0; i < crowd.count; i++) {
      for (let v = 0; v < count; v++) {
        getVertexPosition(crowd, i, v, expected).applyMatrix4(crowd.matrixWorld);
        const distance = vertex.fromArray(drawn, (i * count + v) * 3).distanceTo(expected);
        if (!(distance <= most)) most = distance;
      }
    }
    return most;
  }

  test('wind in grass without clips, by height', async () => {
    const crowd = createGrass();
    moveBy(crowd, wind({ strength: 0.4, direction: new Vector3(1, 0, 0.4) }));
    crowd.swapInstances(1, 3);
    crowd.update(1.37);
    expect(await farthest(crowd)).toBeLessThan(BOUND);
  });

  test.each(ENCODINGS)('breath, flutter and wind in characters, %s', async (encoding) => {
    const { root, clips } = createCoarseCharacter();
    const character = bakeCharacter(root, clips, { encoding: encodingOf(encoding), fps: 10 });
    const crowd = new SkinnedInstancedMesh(character, 3);
    crowd.geometry = paint(crowd.geometry);
    moveBy(crowd, breathing({ depth: 0.1 }), flutter({ channel: 'g' }), wind({ channel: 'b' }));
    for (let i = 0; i < 3; i++) {
      crowd.setMatrixAt(i, somewhere(random(i), 3));
      crowd.play(i, i, { time: i * 0.3 });
    }
    crowd.update(0.7);
    expect(crowd.geometry.getAttribute('color').count).toBeGreaterThan(0);
    expect(await farthest(crowd)).toBeLessThan(2 * BOUND);
  });
});

describe.each(TWINS)('%s: pictures', (twin) => {
  const drawing = useDrawing(twin);

  /** Meshes whose vertices are where the CPU has those of a crowd. */
  function stillsOf(crowd: SkinnedInstancedMesh, material: MeshBasicMaterial): Group {
    const stills = new Group();
    const vertex = new Vector3();
    for (let i = 0; i < crowd.count; i++) {
      const geometry = bladeRoot().getObjectByName('Blade') as Mesh<BufferGeometry>;
      const positions = geometry.geometry.getAttribute('position');
      for (let v = 0; v < positions.count; v++) {
        getVertexPosition(crowd, i, v, vertex);
        positions.setXYZ(v, vertex.x, vertex.y, vertex.z);
      }
      const still = new Mesh(geometry.geometry, material);
      still.castShadow = true;
      stills.add(still);
    }
    return stills;
  }

  test('move with the clock and stand still with it, shadows as well, and who shares the material does not move', async () => {
    // Normals are approximate: what is lit is left out.
    const material = new MeshBasicMaterial({ color: 0x66aa33, side: 2 });
    const crowd = new SkinnedInstancedMesh(bakeCharacter(bladeRoot(), []), 3);
    const other = new SkinnedInstancedMesh(bakeCharacter(bladeRoot(), []), 1);
    for (const one of [crowd, other]) {
      one.material = material;
      one.castShadow = true;
    }
    for (let i = 0; i < 3; i++)
      crowd.setMatrixAt(i, new Matrix4().makeTranslation(i - 1, 0, 0).scale(new Vector3(3, 1, 3)));
    other.setMatrixAt(0, new Matrix4().makeTranslation(0, 0, -1));
    const { scene, camera } = createStage(new Box3(new Vector3(-1.5, 0, -1), new Vector3(1.5, 1.2, 0.5)));
    const draw = (object: Object3D) => drawing.draw(scene, camera, object);
    const drawBoth = () => draw(new Group().add(crowd, other));
    const empty = await draw(new Object3D());
    const before = await drawBoth();
    const otherBefore = await draw(other);

    moveBy(crowd, wind({ strength: 0.7, wavelength: 3, turbulence: 0.2 }));
    crowd.update(0.4);
    const first = await drawBoth();
    expect(changedPixels(before, first)).toBeGreaterThan(200);
    const stills = stillsOf(crowd, material);
    expectSamePicture(`${twin} wind`, await draw(stills.add(other)), await drawBoth(), empty, 0.003);
    expect(changedPixels(await drawBoth(), first, 0), 'a clock that stands still').toBe(0);
    crowd.update(0.3);
    expect(changedPixels(first, await drawBoth())).toBeGreaterThan(200);
    expect(changedPixels(await draw(other), otherBefore, 0), 'of the same material, without motion').toBe(0);

    moveBy(crowd);
    expect(changedPixels(await drawBoth(), before, 0), 'without motion as before').toBe(0);
    crowd.dispose();
    other.dispose();
  });

  test('levels of detail, several materials and attachments are moved alike; clones too', async () => {
    const { root, clips } = createCoarseCharacter();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 2);
    const lift = defineMotion({
      name: 'lift',
      uniforms: { height: 0.4 },
      maxOffset: ({ height }) => height,
      glsl: 'position.y += height;',
      tsl: ({ position, uniforms, vec3 }) => position.add(vec3(0, uniforms.height, 0)),
    });
    const hat = new JointAttachment(
      crowd,
      0,
      crowd.geometry,
      new MeshStandardMaterial({ color: new Color(1, 0, 0) }),
    );
    partsOf(hat).setVisibleAt(1, 0, false);
    addLevel(crowd, createLevel(crowd, root), 0.01);
    crowd.castShadow = hat.castShadow = true;
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(1, 0, 0));
    const { scene, camera } = createStage(
      new Box3(new Vector3(-0.6, 0, -0.5), new Vector3(1.6, 2.2, 0.5)),
      'point',
    );
    const empty = await drawing.draw(scene, camera, new Object3D());
    crowd.position.y = 0.4;
    const raised = await drawing.draw(scene, camera, crowd);
    crowd.position.y = 0;
    moveBy(crowd, lift());
    expectSamePicture(`${twin} lift`, raised, await drawing.draw(scene, camera, crowd), empty, 0.003);
    expectSamePicture(
      `${twin} clone`,
      raised,
      await drawing.draw(scene, camera, crowd.clone()),
      empty,
      0.003,
    );
  });
});
