import {
  BoxGeometry,
  CanvasTexture,
  CompressedTexture,
  DataArrayTexture,
  DataTexture,
  DataUtils,
  DoubleSide,
  Group,
  HalfFloatType,
  LinearFilter,
  LinearMipmapLinearFilter,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  NearestFilter,
  RepeatWrapping,
  RGB_S3TC_DXT1_Format,
  RGBAFormat,
  SphereGeometry,
  SRGBColorSpace,
  Texture,
  type WebGLRenderer,
} from 'three';
import { describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { disposeLater } from '../support/disposeLater.js';
import { type Drawing, useDrawing } from '../support/drawings.js';
import { expectSamePicture } from '../support/expectSamePicture.js';
import { uniformsOf } from '../support/features.js';
import { bakeCharacter, LoopOnceOptions, mergeMaterials, SkinnedInstancedMesh } from '../support/library.js';
import { loseContext, restoreContext } from '../support/loseContext.js';
import { createStage, shaded } from '../support/pictures.js';
import { boundsOf, Reference } from '../support/reference.js';
import { THOROUGH } from '../support/thorough.js';

/** Share of the pixels that a character covers, with its shadow, that may differ. */
const BOUND = 0.0015;

const CLIP = 2;
const TIME = 0.25;

/** Texels on a side. */
const SIZE = 32;

/** A smooth picture of its own for each seed; `paint` says four numbers from 0 to 1 for two that go up and down. */
function pixels(seed: number, size: number, paint: (u: number, v: number) => number[]): ImageData {
  const data = new ImageData(size, size);
  const wave = (at: number) => 0.5 + 0.5 * Math.sin(((at + 0.5) / size) * 2 * Math.PI + seed);
  for (let i = 0; i < size * size; i++) {
    const texel = paint(wave(i % size), wave(Math.floor(i / size)));
    data.data.set(
      texel.map((value) => Math.round(value * 255)),
      i * 4,
    );
  }
  return data;
}

function canvasOf(data: ImageData): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = data.width;
  canvas.getContext('2d')?.putImageData(data, 0, 0);
  return canvas;
}

/** As files have textures: repeating, and with mipmaps. */
function repeated<T extends Texture>(texture: T): T {
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.magFilter = LinearFilter;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}

const painted = (...picture: Parameters<typeof pixels>): Texture =>
  repeated(new CanvasTexture(canvasOf(pixels(...picture))));

const colored = <T extends Texture>(map: T): T => Object.assign(map, { colorSpace: SRGBColorSpace });
const paintColors = (seed: number) => (u: number, v: number) => [u, v, (seed * 0.27) % 1, 1];
const colors = (seed: number) => colored(painted(seed, SIZE, paintColors(seed)));
const normals = (seed: number) => painted(seed, SIZE, (u, v) => [0.3 + 0.4 * u, 0.3 + 0.4 * v, 0.9, 1]);
const surfaces = (seed: number) => painted(seed, SIZE, (u, v) => [0.5 + v / 2, 0.2 + 0.8 * u, v, 1]);
const holes = (seed: number) => colored(painted(seed, SIZE, (u, v) => [u, 0.8, v, u > 0.35 ? 1 : 0]));

/** The figure with things around it, one for each material. */
function dressed(materials: readonly MeshStandardMaterial[]) {
  const { root, clips } = createCoarseCharacter();
  materials.forEach((material, i) => {
    const geometry = i % 2 === 0 ? new BoxGeometry(0.5, 0.5, 0.5) : new SphereGeometry(0.3, 24, 16);
    // Twice around, so that the texture repeats.
    const { uv } = geometry.attributes;
    for (let k = 0; k < uv.count; k++) uv.setXY(k, uv.getX(k) * 2 - 0.5, uv.getY(k) * 2 - 0.5);
    const mesh = new Mesh(geometry, material);
    mesh.name = `Thing ${i}`;
    mesh.position.set(((i % 3) - 1) * 0.7, 0.2 + Math.floor(i / 3) * 0.6, 0.4);
    root.getObjectByName('Chest')!.add(mesh);
  });
  shaded(root);
  return { root, clips };
}

describe.each(TWINS)('%s', (twin) => {
  const drawing = useDrawing(twin);
  const draw: Drawing['draw'] = (...scene) => drawing.draw(...scene);

  /** @param dress Changes the crowd, and the meshes that it is compared with. */
  async function expectSame(
    label: string,
    materials: readonly MeshStandardMaterial[],
    drawn: number,
    dress: (crowd: SkinnedInstancedMesh, meshes: readonly Mesh[]) => void = () => {},
  ) {
    const { root, clips } = dressed(materials);
    const reference = new Reference(root, new Matrix4());
    reference.pose(clips[CLIP], TIME);
    const character = bakeCharacter(root, clips, { mergeMaterials: mergeMaterials() });
    const crowd = new SkinnedInstancedMesh(character, 1);
    expect([crowd.material].flat()).toHaveLength(drawn);
    dress(crowd, reference.meshes);
    crowd.play(0, CLIP, { ...LoopOnceOptions, time: TIME });
    const { scene, camera } = createStage(boundsOf(reference));
    const expected = await draw(scene, camera, reference.root);
    const empty = await draw(scene, camera, new Group());
    // Twice: what is compiled in the first frame sets more than the next one finds again.
    for (const frame of ['first frame', 'second frame']) {
      const picture = await draw(scene, camera, crowd);
      expectSamePicture(`${label}, ${twin}, ${frame}`, expected, picture, empty, BOUND);
    }
    return { crowd, reference, scene, camera };
  }

  test('materials with different textures are one draw call and look the same, in shadows too', async () => {
    const orm = surfaces(3);
    const { crowd } = await expectSame(
      'textured',
      [
        new MeshStandardMaterial({ map: colors(1), normalMap: normals(1), roughness: 0.7 }),
        new MeshStandardMaterial({
          map: colors(2),
          roughnessMap: orm,
          metalnessMap: orm,
          metalness: 1,
          aoMap: orm,
        }),
        new MeshStandardMaterial({ map: colors(1), normalMap: normals(2), color: 0xffaa88 }),
        new MeshStandardMaterial({
          emissive: 0xffffff,
          emissiveMap: colors(5),
          emissiveIntensity: 2,
          color: 0x222222,
        }),
        new MeshStandardMaterial({ emissive: 0x301000, roughness: 0.2, metalness: 0.8 }),
        new MeshStandardMaterial({
          map: colors(4),
          emissiveMap: colors(6),
          emissive: 0x335577,
          roughness: 0.3,
        }),
        // What has holes stays apart from what has none, or others.
        new MeshStandardMaterial({ map: holes(1), alphaTest: 0.5 }),
        new MeshStandardMaterial({ map: holes(2), alphaTest: 0.5 }),
        new MeshStandardMaterial({ color: 0xaa5533, alphaTest: 0.5 }),
        new MeshStandardMaterial({ map: holes(4), alphaTest: 0.2 }),
        new MeshStandardMaterial({ color: 0x3355aa, alphaTest: 0.2 }),
        new MeshStandardMaterial({ map: colors(3), side: DoubleSide }),
        // So do other things that shadow maps show.
        new MeshStandardMaterial({ alphaMap: holes(3), alphaTest: 0.3 }),
        new MeshStandardMaterial({ displacementMap: surfaces(1), displacementScale: 0.2 }),
        new MeshStandardMaterial({ displacementMap: surfaces(2), displacementScale: 0.1 }),
      ],
      7,
    );
    disposeLater(crowd);
  });

  test('images of all kinds and sizes are layers, under what instances have of their own', async ({
    skip,
  }) => {
    skip(!THOROUGH && twin !== 'GLSL');
    const bitmap = await createImageBitmap(pixels(2, SIZE, paintColors(2)), { premultiplyAlpha: 'none' });
    const image = new Image();
    image.src = canvasOf(pixels(3, SIZE * 2, paintColors(3))).toDataURL();
    await image.decode();
    const { data } = pixels(4, SIZE, paintColors(4));
    const bitmapTexture = new Texture(bitmap);
    bitmapTexture.flipY = false;
    const maps = [
      colors(1),
      colored(repeated(bitmapTexture)),
      colored(repeated(new Texture(image))),
      colored(repeated(new DataTexture(new Uint8Array(data), SIZE, SIZE))),
    ];
    const tsl = twin === 'GLSL' ? null : await import('three/tsl');
    const blocks = [0x1f, 0x7e0].map((color) => dxt1(color));
    const { crowd, reference, scene, camera } = await expectSame(
      'images',
      [...maps, ...blocks].map((map, i) => new MeshStandardMaterial({ map, roughness: 0.3 + 0.1 * i })),
      2,
      (own, meshes) => {
        // A node of the user's that asks for the material's colour.
        if (tsl !== null) {
          const colorNode = tsl.materialColor;
          for (const material of [own.material, ...meshes.map((mesh) => mesh.material)].flat()) {
            Object.assign(material, { colorNode });
          }
        }
        uniformsOf(own).setAt(0, 'roughness', 0.4).setAt(0, 'metalness', 0.3);
        for (const { material } of meshes) Object.assign(material, { roughness: 0.4, metalness: 0.3 });
      },
    );
    if (twin !== 'GLSL') return disposeLater(crowd);

    const empty = await draw(scene, camera, new Group());
    const renderer = drawing.renderer as WebGLRenderer;
    await loseContext(renderer);
    await restoreContext(renderer);
    const expected = await draw(scene, camera, reference.root);
    expectSamePicture('after context loss', expected, await draw(scene, camera, crowd), empty, BOUND);
    disposeLater(crowd);
  });

  test.each(['constants', 'textures'])('beside merged %s, what materials share shows', async (kind) => {
    const layers = [1, 2].map((seed) => new Uint8Array(pixels(seed, SIZE, paintColors(seed)).data));
    const both = new Uint8Array(layers.flatMap((texels) => [...texels]));
    const map = colored(repeated(new DataArrayTexture(both, SIZE, SIZE, 2)));
    const layer = colored(repeated(new DataTexture(layers[1], SIZE, SIZE)));
    // None that could be a layer.
    const halves = Uint16Array.from(layers[0], (value) => DataUtils.toHalfFloat(value / 255));
    const aoMap = repeated(new DataTexture(halves, SIZE, SIZE, RGBAFormat, HalfFloatType));
    const orm = surfaces(2);
    const materials = [0, 1].map((i) => {
      const normalMap = kind === 'textures' ? normals(i) : null;
      const emissive = [0x501000, 0x003060][i];
      return new MeshStandardMaterial({ map, aoMap, normalMap, emissive, roughness: 0.2 + 0.7 * i });
    });
    const { crowd } = await expectSame(`shared, ${kind}`, materials, 2, (crowd) => {
      uniformsOf(crowd).setAt(0, 'mapLayer', 1);
      const merged = [crowd.material].flat().find((one) => (one as MeshStandardMaterial).map === map);
      // What is set later counts as well.
      for (const material of [merged as MeshStandardMaterial, ...materials]) {
        if (kind === 'textures') Object.assign(material, { roughnessMap: orm, metalnessMap: orm });
        else Object.assign(material, { normalMap: normals(1), emissiveIntensity: 2 }).emissive.g *= 0.5;
      }
      for (const material of materials) material.map = layer;
    });
    disposeLater(crowd);
  });

  /** Materials with several textures and with none, and what the user puts on top of all. */
  const asked = async (label: string, own: (material: MeshStandardMaterial) => void) => {
    const orm = surfaces(3);
    const [map, emissiveMap] = [colors(2), colors(5)];
    const materials = [
      new MeshStandardMaterial({ map: colors(1), normalMap: normals(1), roughness: 0.7 }),
      new MeshStandardMaterial({ map, roughnessMap: orm, metalnessMap: orm, metalness: 1, aoMap: orm }),
      new MeshStandardMaterial({ emissive: 0xffffff, emissiveMap, emissiveIntensity: 2, color: 0x222222 }),
      new MeshStandardMaterial({ emissive: 0x301000, roughness: 0.2, metalness: 0.8, color: 0xaa5533 }),
    ];
    const { crowd } = await expectSame(label, materials, 1, (crowd, meshes) => {
      for (const material of [crowd.material, ...meshes.map((mesh) => mesh.material)].flat()) {
        own(material as MeshStandardMaterial);
      }
      uniformsOf(crowd).setAt(0, 'metalness', 0.4);
      for (const { material } of meshes) Object.assign(material, { metalness: 0.4 });
    });
    disposeLater(crowd);
  };

  test.runIf(twin === 'GLSL')('code of users that samples textures gets those of each material', async () => {
    const chunks = {
      map_fragment: '#ifdef USE_MAP\ndiffuseColor *= texture2D( map, vMapUv ).bgra;\n#endif',
      aomap_fragment:
        '#ifdef USE_AOMAP\nreflectedLight.indirectDiffuse *= texture(aoMap, vAoMapUv, 0.0).r;\n#endif',
      // A function that has a parameter of that name.
      common: '#include <common>\nvec4 sampled( sampler2D map, vec2 uv ) { return texture2D( map, uv ); }',
    };
    await asked('own code', (material) => {
      material.onBeforeCompile = (shader) => {
        for (const [chunk, code] of Object.entries(chunks)) {
          shader.fragmentShader = shader.fragmentShader.replace(`#include <${chunk}>`, code);
        }
      };
    });
  });

  test.skipIf(twin === 'GLSL')('nodes of users that ask for what materials have get it of each', async () => {
    const tsl = await import('three/tsl');
    const { materialColor, materialRoughness, materialMetalness, materialEmissive } = tsl;
    const { materialOpacity, materialNormal, materialAO, vec3, vec4 } = tsl;
    const nodes = {
      colorNode: vec4(materialColor.mul(0.8).rgb.mul(vec3(1, 0.6, 0.9)), 1),
      roughnessNode: materialRoughness.mul(0.5).add(0.1),
      metalnessNode: materialMetalness.oneMinus(),
      emissiveNode: materialEmissive.mul(vec3(0.5, 1, 0.2)),
      normalNode: materialNormal.add(vec3(0.1, 0, 0)).normalize(),
      aoNode: materialAO.mul(0.9),
      opacityNode: materialOpacity.mul(0.5),
    };
    await asked('own nodes', (material) => Object.assign(material, nodes));
  });
});

/** Four blocks of four by four texels, of one colour. */
function dxt1(color: number): CompressedTexture {
  const blocks = [0, 1, 2, 3].flatMap(() => [color & 255, color >> 8, color & 255, color >> 8, 0, 0, 0, 0]);
  const mipmap = { data: new Uint8Array(blocks), width: 8, height: 8 };
  const map = new CompressedTexture([mipmap], 8, 8, RGB_S3TC_DXT1_Format);
  map.magFilter = map.minFilter = NearestFilter;
  map.needsUpdate = true;
  return map;
}
