import { SkinnedInstance, type SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import {
  DirectionalLight,
  HemisphereLight,
  InstancedMesh,
  Matrix4,
  MeshStandardMaterial,
  Object3D,
  PerspectiveCamera,
  Scene,
  type SkinnedMesh,
} from 'three';
import { finisher } from '../../demos/benchmark/measure.js';
import { createCharacter } from '../../demos/character.js';
import { type Created, createRenderer } from '../../demos/lib/createRenderer.js';
import { leaveDrawsOut } from './leaveDrawsOut.js';

/** Frames apart as in a game: without that, JavaScript is compiled and cached as it never is there. */
const FRAMES = 60;
const nextFrame = () => new Promise(requestAnimationFrame);

export const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1];

/** What is measured, of ours and of a still InstancedMesh in the same run. */
export interface CostRow {
  name: string;
  ours: string;
  floor: string;
}

type Kind = 'webgl' | 'webgpu';
type Library = typeof import('skinned-instanced-mesh');
type What = 'ours' | 'floor';

const libraryOf = (kind: Kind): Promise<Library> =>
  kind === 'webgpu'
    ? (import('skinned-instanced-mesh/webgpu') as unknown as Promise<Library>)
    : import('skinned-instanced-mesh');

/** A picture without vertices: what they cost is measured elsewhere. */
class Stage {
  readonly scene = new Scene().add(new HemisphereLight(0xffffff, 0x888888, 3));
  readonly camera = new PerspectiveCamera(60, 1, 0.1, 2000);
  readonly finish: () => Promise<void>;

  private constructor(
    readonly kind: Kind,
    readonly library: Library,
    readonly created: Created,
    shadow: boolean,
  ) {
    const { renderer } = created;
    renderer.setSize(200, 200);
    document.body.append(renderer.domElement);
    this.finish = finisher(created);
    this.camera.position.set(0, 20, 70);
    this.camera.lookAt(0, 0, 0);
    if (!shadow) return;
    renderer.shadowMap.enabled = true;
    const sun = new DirectionalLight();
    sun.position.set(0, 80, 20);
    sun.castShadow = true;
    Object.assign(sun.shadow.camera, { left: -60, right: 60, top: 60, bottom: -60, far: 300 });
    this.scene.add(sun);
  }

  static async open(kind: Kind, shadow = false): Promise<Stage> {
    return new Stage(kind, await libraryOf(kind), await createRenderer(kind, { antialias: false }), shadow);
  }

  render(): void {
    this.created.renderer.render(this.scene, this.camera);
  }

  /** Crowds of the built-in figure that stand in one field, or still InstancedMeshes of it. */
  fill(what: What, crowds: number, each: number): InstancedMesh[] {
    const { library, scene } = this;
    const { root, clips } = createCharacter();
    const character = library.bakeCharacter(root, clips);
    const still = (root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh).geometry;
    const side = Math.ceil(Math.sqrt(crowds * each));
    const matrix = new Matrix4();
    const made: InstancedMesh[] = [];
    for (let c = 0; c < crowds; c++) {
      const mesh =
        what === 'floor'
          ? new InstancedMesh(still, new MeshStandardMaterial(), each)
          : new library.SkinnedInstancedMesh(character, each);
      for (let i = 0; i < each; i++) {
        const at = c * each + i;
        mesh.setMatrixAt(
          i,
          matrix.makeTranslation((at % side) - side / 2, 0, Math.floor(at / side) - side / 2),
        );
      }
      if (isCrowd(mesh)) mesh.playAll((i) => i % clips.length, { time: (i) => i % 7 });
      mesh.castShadow = mesh.receiveShadow = true;
      scene.add(mesh);
      made.push(mesh);
    }
    return made;
  }

  clear(meshes: readonly InstancedMesh[]): void {
    for (const mesh of meshes) {
      mesh.removeFromParent();
      mesh.dispose();
    }
  }
}

const isCrowd = (mesh: InstancedMesh): mesh is SkinnedInstancedMesh => 'isSkinnedInstancedMesh' in mesh;

/** JavaScript of a frame, and bytes that it sends. */
async function script(
  kind: Kind,
  what: What,
  crowds: number,
  each: number,
  { turns = false, moves = false, shadow = false, objects = false },
): Promise<{ ms: number; bytes: number }> {
  const stage = await Stage.open(kind, shadow);
  leaveDrawsOut(stage.created);
  const meshes = stage.fill(what, crowds, each);
  const all: Object3D[] = [];
  for (let i = 0; objects && i < each; i++) {
    const [mesh] = meshes;
    all.push(isCrowd(mesh) ? new SkinnedInstance(mesh, i) : new Object3D());
    stage.scene.add(all[i]);
  }
  const { calls } = stage.created;
  const times: number[] = [];
  for (let frame = -10; frame < FRAMES; frame++) {
    await nextFrame();
    calls.reset();
    const start = performance.now();
    if (turns) stage.camera.rotation.y += frame % 20 < 10 ? 0.01 : -0.01;
    for (let i = 0; i < all.length; i += 50) all[i].position.y = 0.01 * frame;
    for (const mesh of meshes) {
      if (isCrowd(mesh)) mesh.update(1 / 60);
      if (moves) mesh.instanceMatrix.needsUpdate = true;
    }
    stage.render();
    if (frame >= 0) times.push(performance.now() - start);
  }
  const { bytes } = calls;
  stage.clear(meshes);
  stage.created.renderer.dispose();
  return { ms: median(times), bytes };
}

async function scriptRow(
  kind: Kind,
  name: string,
  crowds: number,
  each: number,
  options: Parameters<typeof script>[4],
): Promise<CostRow> {
  const say = ({ ms, bytes }: { ms: number; bytes: number }) =>
    `${ms.toFixed(2)} ms, ${bytes.toLocaleString('en')} B`;
  const floor = say(await script(kind, 'floor', crowds, each, options));
  return { name, ours: say(await script(kind, 'ours', crowds, each, options)), floor };
}

/** The worst `update` of 100,000 in 70 s, longer than any period of the clock, and what a frame sends at most. */
async function clock(kind: Kind): Promise<CostRow[]> {
  const stage = await Stage.open(kind);
  leaveDrawsOut(stage.created);
  const [crowd] = stage.fill('ours', 1, 100_000);
  stage.render();
  const times: number[] = [];
  let bytes = 0;
  for (let i = 0; i < 700; i++) {
    const start = performance.now();
    (crowd as SkinnedInstancedMesh).update(0.1);
    times.push(performance.now() - start);
    stage.created.calls.reset();
    stage.render();
    bytes = Math.max(bytes, stage.created.calls.bytes);
  }
  times.sort((a, b) => b - a);
  const ours = `worst ${times[0].toFixed(2)}, next ${times[1].toFixed(2)} ms; ${bytes.toLocaleString('en')} B at most`;
  return [{ name: '`update` of 100,000 for 70 s', ours, floor: '0' }];
}

/** Bytes that a graphics API was asked to keep. */
function countKept({ device, gl }: Created): () => number {
  let total = 0;
  if (device !== null) {
    const { createBuffer, createTexture } = device;
    device.createBuffer = (descriptor) => {
      const buffer = createBuffer.call(device, descriptor);
      total += buffer.size;
      const { destroy } = buffer;
      buffer.destroy = () => {
        total -= buffer.size;
        destroy.call(buffer);
      };
      return buffer;
    };
    device.createTexture = (descriptor) => {
      const texture = createTexture.call(device, descriptor);
      total += texture.width * texture.height * texture.depthOrArrayLayers * texelBytes(texture.format);
      return texture;
    };
  } else if (gl !== null) {
    const { bufferData, texStorage2D } = gl;
    gl.bufferData = (...args: unknown[]) => {
      const [, data, , , length = 0] = args as [number, ArrayBufferView | number, number, number, number];
      if (typeof data === 'number') total += data;
      else total += length > 0 ? length * (data as Float32Array).BYTES_PER_ELEMENT : data.byteLength;
      (bufferData as (...all: unknown[]) => void).apply(gl, args);
    };
    gl.texStorage2D = (target, levels, format, width, height) => {
      const bytes = format === gl.RGBA32F || format === gl.RGBA32UI ? 16 : format === gl.RGBA16F ? 8 : 4;
      total += width * height * bytes;
      texStorage2D.call(gl, target, levels, format, width, height);
    };
  }
  return () => total;
}

const texelBytes = (format: string) =>
  format.startsWith('rgba32') ? 16 : format.startsWith('rgba16') ? 8 : 4;

/** Bytes of typed arrays that are made meanwhile. */
function countArrays<T>(make: () => T): { made: T; bytes: number } {
  let bytes = 0;
  const global = globalThis as unknown as Record<string, new (...args: never[]) => ArrayBufferView>;
  const names = ['Float32Array', 'Float64Array', 'Int32Array', 'Uint32Array', 'Uint16Array', 'Uint8Array'];
  const originals = names.map((name) => global[name]);
  names.forEach((name, i) => {
    global[name] = new Proxy(originals[i], {
      construct(target, args, newTarget) {
        const array = Reflect.construct(target, args, newTarget === global[name] ? target : newTarget);
        if (typeof args[0] === 'number') bytes += array.byteLength;
        return array;
      },
    });
  });
  const made = make();
  names.forEach((name, i) => (global[name] = originals[i]));
  return { made, bytes };
}

/** What 100,000 take of which some 5,000 are seen. */
async function memory(kind: Kind): Promise<CostRow[]> {
  const count = 100_000;
  const rows: CostRow[] = [];
  for (const what of ['floor', 'ours'] as const) {
    const stage = await Stage.open(kind);
    leaveDrawsOut(stage.created);
    const kept = countKept(stage.created);
    const { camera } = stage;
    camera.position.set(0, 3, 0);
    camera.fov = 25;
    camera.far = 150;
    camera.rotation.set(0, 0, 0);
    camera.updateProjectionMatrix();
    const { made, bytes } = countArrays(() => {
      const [mesh] = stage.fill(what, 1, count);
      if (isCrowd(mesh)) mesh.update(0.01);
      stage.render();
      return mesh;
    });
    for (let i = 0; i < 4; i++) {
      if (isCrowd(made)) made.update(0.01);
      stage.render();
    }
    const [graphics, page] = [`${(kept() / 1e6).toFixed(0)} MB`, `${Math.round(bytes / count)} B`];
    if (what === 'floor') {
      rows.push({ name: 'graphics memory of 100,000', ours: '', floor: graphics });
      rows.push({ name: 'typed arrays of the page, an instance', ours: '', floor: page });
    } else {
      rows[0].ours = graphics;
      rows[1].ours = page;
    }
    stage.clear([made]);
  }
  return rows;
}

/** What a crowd costs beside its vertices. Each of these is for a page of its own. */
export const costs: Record<string, (kind: Kind) => Promise<CostRow[]>> = {
  'JavaScript of 10,000': async (kind) => [
    await scriptRow(kind, 'still, one crowd', 1, 10_000, {}),
    await scriptRow(kind, 'the camera turns, one crowd', 1, 10_000, { turns: true }),
    await scriptRow(kind, 'the camera turns, 100 crowds', 100, 100, { turns: true }),
    await scriptRow(kind, 'the same with a shadow map', 100, 100, { turns: true, shadow: true }),
    await scriptRow(kind, '200 objects of 10,000 move', 1, 10_000, { objects: true }),
  ],
  'JavaScript of 100,000': async (kind) => [await scriptRow(kind, 'all move', 1, 100_000, { moves: true })],
  clock,
  memory,
};

/** What `measureCosts` knows. */
export const costNames = () => Object.keys(costs);

export const measureCosts = (kind: Kind, name: string): Promise<CostRow[]> => costs[name](kind);
