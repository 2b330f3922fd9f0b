import { createPalettes, InstanceUniforms } from 'skinned-instanced-mesh';
import {
  BoxGeometry,
  CanvasTexture,
  Color,
  DataArrayTexture,
  DataTexture,
  LinearFilter,
  type Material,
  Mesh,
  MeshBasicMaterial,
  MeshMatcapMaterial,
  MeshNormalMaterial,
  MeshPhysicalMaterial,
  MeshStandardMaterial,
  NearestFilter,
  SRGBColorSpace,
} from 'three';
import { describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { expectSameDrawn } from '../support/comparePair.js';
import { disposeLater } from '../support/disposeLater.js';
import { useDrawing } from '../support/drawings.js';
import { partsOf, uniformsOf } from '../support/features.js';
import { changedPixels, createStage, type LightKind } from '../support/pictures.js';
import { COLORS, createTrio, TRIO, type Trio } from '../support/surfaceTrio.js';
import { THOROUGH } from '../support/thorough.js';

const OPACITIES = [1, 0.55, 0.2];

const standard = () => new MeshStandardMaterial({ color: 0xbbaa88, roughness: 0.6, metalness: 0.1 });

/** Bytes of a layer: squares of a colour, whose alpha grows from left to right. */
function layerBytes(layer: number, size = 16): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size * size * 4);
  for (let i = 0; i < size * size; i++) {
    const x = i % size;
    const square = ((x >> 1) + (Math.floor(i / size) >> 1)) % 2;
    bytes.set([60 + layer * 80, square * 200, 220 - layer * 90, 60 + 12 * x], i * 4);
  }
  return bytes;
}

const LAYER = 16;

function layerTexture(layer: number): DataTexture {
  const texture = new DataTexture(layerBytes(layer), LAYER, LAYER);
  return asMap(texture);
}

function arrayTexture(): DataArrayTexture {
  const bytes = new Uint8Array(LAYER * LAYER * 4 * TRIO);
  for (let layer = 0; layer < TRIO; layer++) bytes.set(layerBytes(layer), layer * LAYER * LAYER * 4);
  const texture = new DataArrayTexture(bytes, LAYER, LAYER, TRIO);
  return asMap(texture);
}

function asMap<T extends DataTexture | DataArrayTexture>(texture: T): T {
  texture.colorSpace = SRGBColorSpace;
  texture.magFilter = texture.minFilter = LinearFilter;
  texture.offset.set(0.1, 0.2);
  texture.repeat.set(0.7, 0.6);
  texture.needsUpdate = true;
  return texture;
}

describe.each(TWINS)('%s', (twin) => {
  const { draw } = useDrawing(twin);

  /** Compares the clones with the crowd, which must also differ from the one that it was. */
  async function expectSame(
    trio: Trio,
    label: string,
    change: () => void,
    light: LightKind = 'directional',
  ): Promise<void> {
    const { clones, crowd, bounds } = trio;
    const stage = createStage(bounds, light);
    // drawn before: materials must notice what comes
    const before = await draw(stage.scene, stage.camera, crowd);
    change();
    const drawn = await expectSameDrawn(`${label}, ${twin}`, draw, stage, clones, crowd);
    expect(changedPixels(before, drawn), `${label}: something has changed`).toBeGreaterThan(300);
    disposeLater(crowd);
  }

  // Node materials have one shader for the shadow maps of all lights, others one of their own for point lights.
  const lights: LightKind[] = THOROUGH || twin === 'GLSL' ? ['directional', 'point'] : ['directional'];

  const materials: Record<string, (options: object) => Material> = {
    basic: (options) => new MeshBasicMaterial({ color: 0xbbaa88, ...options }),
    standard: (options) => new MeshStandardMaterial({ color: 0xbbaa88, ...options }),
    normal: (options) => new MeshNormalMaterial(options),
    matcap: (options) => new MeshMatcapMaterial(options),
  };

  const seeThrough = [
    ...(THOROUGH ? Object.keys(materials) : ['standard']).map((name) => [name, { transparent: true }]),
    ...(THOROUGH ? ['basic', 'standard'] : ['standard']).map((name) => [name, { alphaHash: true }]),
  ] as [string, object][];
  test.each(seeThrough)('opacity in a %s material, %o', async (name, options) => {
    const trio = createTrio(
      () => materials[name]({ ...options, opacity: 0.9 }),
      (material, i) => (material.opacity *= OPACITIES[i]),
    );
    const change = () =>
      OPACITIES.forEach((opacity, i) => uniformsOf(trio.crowd).setAt(i, 'opacity', opacity));
    await expectSame(trio, `opacity ${name} ${Object.keys(options)}`, change);
  });

  test.each(lights)('opacity in a material that is cut off by alpha, under a %s light', async (light) => {
    const trio = createTrio(
      () => materials.standard({ alphaTest: 0.35, map: layerTexture(0) }),
      (material, i) => (material.opacity *= OPACITIES[i]),
    );
    const change = () =>
      OPACITIES.forEach((opacity, i) => uniformsOf(trio.crowd).setAt(i, 'opacity', opacity));
    await expectSame(trio, `cut off, ${light}`, change, light);
  });

  test('roughness and metalness', async () => {
    const roughness = [null, 0.15, 0.9];
    const metalness = [0.8, null, 0.4];
    const trio = createTrio(standard, (material, i) => {
      const surface = material as MeshStandardMaterial;
      surface.roughness = roughness[i] ?? surface.roughness;
      surface.metalness = metalness[i] ?? surface.metalness;
    });
    await expectSame(trio, 'roughness and metalness', () => {
      for (let i = 0; i < TRIO; i++)
        uniformsOf(trio.crowd).setAt(i, 'roughness', roughness[i]).setAt(i, 'metalness', metalness[i]);
    });
  });

  test.each(THOROUGH ? lights : lights.slice(0, 1))('layers, cut off by alpha, %s', async (light) => {
    const trio = createTrio(
      () => new MeshStandardMaterial({ map: arrayTexture(), alphaTest: 0.5 }),
      (material, i) => ((material as MeshStandardMaterial).map = layerTexture(i)),
    );
    const change = () => {
      for (let i = 0; i < TRIO; i++) uniformsOf(trio.crowd).setAt(i, 'mapLayer', i);
    };
    await expectSame(trio, `layers, ${light}`, change, light);
  });

  test('one palette in the colors of teams, which leave the rest as it is', async () => {
    const painted = (cloth: string) => {
      const context = new OffscreenCanvas(64, 64).getContext('2d')!;
      for (const [color, x] of [
        [cloth, 0],
        ['#806040', 32],
      ] as const) {
        context.fillStyle = color;
        context.fillRect(x, 0, 32, 64);
      }
      const map = new CanvasTexture(context.canvas);
      return Object.assign(map, {
        colorSpace: SRGBColorSpace,
        magFilter: NearestFilter,
        minFilter: NearestFilter,
      });
    };
    const teams = ['#c02020', '#2040c0', '#20a040'];
    const map = createPalettes(
      painted(teams[0]),
      TRIO,
      (color, u, _v, team) => {
        if (u < 0.5) color.set(teams[team]);
      },
      64,
    );
    const trio = createTrio(
      () => new MeshStandardMaterial({ map }),
      (material, i) => ((material as MeshStandardMaterial).map = painted(teams[i])),
    );
    await expectSame(trio, 'palettes', () => {
      for (let i = 0; i < TRIO; i++) uniformsOf(trio.crowd).setAt(i, 'mapLayer', i);
    });
  });

  test('what was declared, in shaders of one’s own, of vertices and fragments, colours and shadows', async () => {
    const { createOwn } =
      twin === 'GLSL'
        ? await import('../support/ownUniforms.js')
        : await import('../support/ownUniformNodes.js');
    const values = COLORS.map((tint, i) => ({ tint, dirt: 0.3 + 0.3 * i, push: 0.1 * i }));
    const own = createOwn();
    const trio = createTrio(own.shared, () => {});
    new InstanceUniforms(trio.crowd, { tint: 'color', dirt: 'float', push: 'float' });
    own.give(trio.crowd);
    trio.references.forEach(({ meshes }, i) => {
      for (const mesh of meshes) {
        mesh.material = own.single(values[i]);
        own.giveSingle(mesh, values[i]);
      }
    });
    await expectSame(trio, 'uniforms', () => {
      values.forEach(({ tint, dirt, push }, i) => {
        uniformsOf(trio.crowd).setAt(i, 'tint', tint).setAt(i, 'dirt', dirt).setAt(i, 'push', push);
      });
      expect(uniformsOf(trio.crowd).getAt(2, 'dirt')).toBeCloseTo(0.9);
    });
  });

  test.runIf(twin !== 'GLSL')('emission and opacity beside nodes of one’s own', async () => {
    const { createNodes } = await import('../support/ownUniformNodes.js');
    const trio = createTrio(
      () => createNodes(null, null),
      () => {},
    );
    trio.references.forEach(({ meshes }, i) => {
      for (const mesh of meshes) mesh.material = createNodes(COLORS[i], OPACITIES[i]);
    });
    await expectSame(trio, 'nodes', () => {
      for (let i = 0; i < TRIO; i++)
        uniformsOf(trio.crowd).setAt(i, 'emissive', COLORS[i]).setAt(i, 'opacity', OPACITIES[i]);
    });
  });

  test('emission, opacity, colours and parts at once', async () => {
    const trio = createTrio(
      () => new MeshPhysicalMaterial({ color: 0xbbaa88, transparent: true, emissive: 0x101010 }),
      (material, i) => {
        const surface = material as MeshPhysicalMaterial;
        surface.color.multiply(new Color(1, 0.5, 0.3 * i));
        surface.emissive.add(COLORS[i]);
        surface.opacity = OPACITIES[i];
        surface.roughness = 0.3;
      },
      {},
      (root) => {
        const box = new Mesh(new BoxGeometry(0.4, 0.4, 0.4), standard());
        box.name = 'Box';
        root.getObjectByName('Head')?.add(box);
      },
    );
    (trio.references[1].root.getObjectByName('Box') as Mesh).visible = false;
    await expectSame(trio, 'all at once', () => {
      const { crowd } = trio;
      for (let i = 0; i < TRIO; i++) {
        uniformsOf(crowd)
          .setAt(i, 'emissive', COLORS[i])
          .setAt(i, 'opacity', OPACITIES[i])
          .setAt(i, 'roughness', 0.3);
        crowd.setColorAt(i, new Color(1, 1, 0.3 * i));
        partsOf(crowd).setColorAt(i, 0, new Color(1, 0.5, 1));
        partsOf(crowd).setColorAt(i, 'Box', new Color(1, 0.5, 1));
      }
      partsOf(crowd).setVisibleAt(1, 'Box', false);
    });
  });
});
