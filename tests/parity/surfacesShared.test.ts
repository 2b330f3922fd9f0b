import { InstanceUniforms, JointAttachment } from 'skinned-instanced-mesh';
import { BoxGeometry, Color, type Material, Mesh, MeshStandardMaterial, type Object3D } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { expectSameDrawn } from '../support/comparePair.js';
import { disposeLater } from '../support/disposeLater.js';
import { useDrawing } from '../support/drawings.js';
import { uniformsOf } from '../support/features.js';
import { addLevel } from '../support/levels.js';
import { ENCODINGS, encodingOf } from '../support/library.js';
import { createStage } from '../support/pictures.js';
import { COLORS, createTrio, TRIO, type Trio } from '../support/surfaceTrio.js';

const standard = () => new MeshStandardMaterial({ color: 0xbbaa88, roughness: 0.6 });
const emissiveOf = (material: Material) => (material as MeshStandardMaterial).emissive;

/** Adds a box to the head, of a material of its own. */
const addHat = (root: Object3D): void => {
  const material = new MeshStandardMaterial({ color: 0x335577, roughness: 0.2, metalness: 0.7 });
  const hat = new Mesh(new BoxGeometry(0.4, 0.3, 0.4), material);
  hat.name = 'Hat';
  root.getObjectByName('Head')?.add(hat);
};

describe.each(TWINS)('%s', (twin) => {
  const { draw } = useDrawing(twin);

  async function expectSame({ clones, crowd, bounds }: Trio, label: string): Promise<void> {
    await expectSameDrawn(`${label}, ${twin}`, draw, createStage(bounds), clones, crowd);
    disposeLater(crowd);
  }

  test('crowds that share a material, with a plain mesh, each have what they have', async () => {
    const shared = standard();
    shared.transparent = true;
    const create = () => shared;
    const glowing = createTrio(create, () => {});
    const fading = createTrio(create, () => {});
    new InstanceUniforms(fading.crowd, { dirt: 'float' });
    const plain = createTrio(create, () => {});
    const box = new Mesh(new BoxGeometry(0.5, 0.5, 0.5), shared);
    box.position.y = 2;
    for (const { crowd, clones } of [glowing, fading, plain]) {
      crowd.add(box.clone());
      clones.add(box.clone());
    }
    for (let i = 0; i < TRIO; i++) {
      uniformsOf(glowing.crowd).setAt(i, 'emissive', COLORS[i]).setAt(i, 'roughness', 0.3);
      uniformsOf(fading.crowd)
        .setAt(i, 'opacity', 0.4 + 0.2 * i)
        .setAt(i, 'dirt', 1);
      for (const { references } of [glowing, fading]) {
        for (const mesh of references[i].meshes) mesh.material = shared.clone();
      }
      for (const { material } of glowing.references[i].meshes) {
        emissiveOf(material as Material).copy(COLORS[i]);
        (material as MeshStandardMaterial).roughness = 0.3;
      }
      for (const { material } of fading.references[i].meshes) (material as Material).opacity = 0.4 + 0.2 * i;
    }
    // In turn, and again once all variants are known.
    for (const label of ['at first', 'again']) {
      await expectSame(glowing, `shared, glowing ${label}`);
      await expectSame(fading, `shared, fading ${label}`);
      await expectSame(plain, `shared, plain ${label}`);
    }
  });

  test('what is attached, and levels of detail, have what the crowd has', async () => {
    const trio = createTrio(
      standard,
      (material, i) => {
        emissiveOf(material).copy(COLORS[i]);
      },
      {},
      addHat,
    );
    // The same once more: first without the hat, which is attached, then at a level of detail.
    const bare = createTrio(standard, () => {});
    const hat = new BoxGeometry(0.4, 0.3, 0.4);
    new JointAttachment(bare.crowd, 'Head', hat, standard());
    for (let i = 0; i < TRIO; i++) uniformsOf(bare.crowd).setAt(i, 'emissive', COLORS[i]);
    await expectSame({ ...bare, clones: trio.clones, bounds: trio.bounds }, 'attached');
    for (let i = 0; i < TRIO; i++) uniformsOf(trio.crowd).setAt(i, 'emissive', COLORS[i]);
    addLevel(trio.crowd, trio.crowd.geometry, 0.001);
    await expectSame(trio, 'level of detail');

    const own = createTrio(standard, () => {});
    const sword = new JointAttachment(own.crowd, 'Head', hat, standard());
    uniformsOf(own.crowd).setAt(1, 'emissive', new Color(1, 1, 1));
    for (let i = 0; i < TRIO; i++) uniformsOf(sword).setAt(i, 'emissive', COLORS[i]);
    uniformsOf(own.crowd).setAt(1, 'emissive', new Color(0, 0, 0));
    trio.references.forEach(({ meshes }) => {
      for (const { name, material } of meshes) if (name !== 'Hat') emissiveOf(material as Material).set(0);
    });
    await expectSame({ ...own, clones: trio.clones, bounds: trio.bounds }, 'attached, of its own');
  });

  test.each(ENCODINGS)('instances that are far apart among many, %s', async (encoding) => {
    const trio = createTrio(
      standard,
      (material, i) => {
        emissiveOf(material).copy(COLORS[i]);
      },
      { encoding: encodingOf(encoding), fps: 60 },
    );
    const { crowd } = trio;
    crowd.setCapacity(1000).count = 1000;
    for (let i = 0; i < TRIO; i++) uniformsOf(crowd).setAt(i, 'emissive', COLORS[i]);
    crowd.swapInstances(1, 300).swapInstances(2, 999);
    crowd.setVisibleAt({ start: 1, count: 299 }, false).setVisibleAt({ start: 301, count: 698 }, false);
    crowd.instanceMatrix.needsUpdate = true;
    expect(uniformsOf(crowd).getAt(999, 'emissive', new Color()).b).toBeCloseTo(COLORS[2].b);
    await expectSame(trio, `far apart, ${encoding}`);
  });

  test.runIf(twin !== 'GLSL')('a node asks for a uniform that the crowd has not', async () => {
    const { instanceUniform } = await import('skinned-instanced-mesh/webgpu');
    const { MeshStandardNodeMaterial } = await import('three/webgpu');
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const trio = createTrio(
      () => Object.assign(new MeshStandardNodeMaterial(), { colorNode: instanceUniform('dust', 'color') }),
      (material) => {
        (material as MeshStandardMaterial).color.set(0);
        Object.assign(material, { colorNode: null });
      },
    );
    new InstanceUniforms(trio.crowd, { dirt: 'float' });
    trio.crowd.name = `Dusty ${twin}`;
    await expectSame(trio, 'a uniform that is missing');
    expect(warn.mock.calls.map(([text]) => text)).toEqual([
      `instanceUniform: the crowd "Dusty ${twin}" has no uniform "dust" of type 'color', but dirt: 'float'; declare it: new InstanceUniforms(crowd, { dust: 'color' }).`,
    ]);
  });
});
