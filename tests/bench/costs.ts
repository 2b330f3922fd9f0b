import type { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import {
  Color,
  DirectionalLight,
  HemisphereLight,
  InstancedMesh,
  Matrix4,
  MeshStandardMaterial,
  PerspectiveCamera,
  Quaternion,
  Scene,
  type SkinnedMesh,
} from 'three';
import { finisher } from '../../demos/benchmark/measure.js';
import { createCharacter } from '../../demos/character.js';
import { type Created, createRenderer } from '../../demos/lib/createRenderer.js';
import { createJoints } from '../support/joints.js';
import { loadModel } from '../support/models.js';
import { leaveDrawsOut, median } from './views.js';

/** Frames apart as in a game: without that, JavaScript is compiled and cached as it never is there. */
const FRAMES = 60;
const nextFrame = () => new Promise(requestAnimationFrame);

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

  /** Milliseconds until a picture is there. */
  async timePicture(): Promise<number> {
    const start = performance.now();
    this.render();
    await this.finish();
    return performance.now() - start;
  }
}

const isCrowd = (mesh: InstancedMesh): mesh is SkinnedInstancedMesh => 'isSkinnedInstancedMesh' in mesh;

/** JavaScript of a frame, and bytes that it sends. */
async function script(
  kind: Kind,
  what: What,
  crowds: number,
  each: number,
  { turns = false, moves = false, shadow = false },
): Promise<{ ms: number; bytes: number }> {
  const stage = await Stage.open(kind, shadow);
  leaveDrawsOut(stage.created);
  const meshes = stage.fill(what, crowds, each);
  const { calls } = stage.created;
  const times: number[] = [];
  for (let frame = -10; frame < FRAMES; frame++) {
    await nextFrame();
    calls.reset();
    const start = performance.now();
    if (turns) stage.camera.rotation.y += frame % 20 < 10 ? 0.01 : -0.01;
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

/** Microseconds of a call, of many. */
async function calls(kind: Kind): Promise<CostRow[]> {
  const stage = await Stage.open(kind);
  const count = 100_000;
  const matrices = Array.from({ length: 1000 }, (_, i) => new Matrix4().makeTranslation(i, 0, 0));
  const time = (mesh: InstancedMesh) => {
    const times: number[] = [];
    for (let round = 0; round < 40; round++) {
      const start = performance.now();
      for (let i = 0; i < count; i++) mesh.setMatrixAt(i, matrices[i % 1000]);
      times.push(((performance.now() - start) * 1000) / count);
    }
    return `${median(times.slice(10)).toFixed(4)} µs`;
  };
  const [floor] = stage.fill('floor', 1, count);
  const [ours] = stage.fill('ours', 1, count);
  return [{ name: 'setMatrixAt', ours: time(ours), floor: time(floor) }];
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
  names.forEach((name, i) => {
    global[name] = originals[i];
  });
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

const GPU_MADE = {
  createShaderModule: 'modules',
  createComputePipeline: 'pipelines',
  createComputePipelineAsync: 'pipelines',
  createRenderPipeline: 'pipelines',
  createRenderPipelineAsync: 'pipelines',
} as const;

/** Counts what a graphics API is asked to compile. */
function countCompiled({ gl, device }: Created): { take(): string } {
  const counts = new Map<string, number>();
  const add = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  const watch = (owner: object, method: string, name: string) => {
    const methods = owner as Record<string, (...args: unknown[]) => unknown>;
    const original = methods[method];
    methods[method] = (...args) => {
      add(name);
      return original.apply(owner, args);
    };
  };
  if (device !== null) for (const [method, name] of Object.entries(GPU_MADE)) watch(device, method, name);
  else if (gl !== null) watch(gl, 'linkProgram', 'programs');
  const take = () => {
    const text = [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
    counts.clear();
    return text || 'nothing compiled';
  };
  return { take };
}

/** The first picture of many crowds of one character, after a still mesh was drawn. */
async function start(kind: Kind, crowds: number): Promise<CostRow[]> {
  const measure = async (what: What) => {
    const stage = await Stage.open(kind, true);
    const compiled = countCompiled(stage.created);
    const before = stage.fill('floor', 1, 2);
    await stage.timePicture();
    stage.clear(before);
    compiled.take();
    const meshes = stage.fill(what, crowds, 100);
    for (const mesh of meshes) mesh.geometry.setDrawRange(0, 3);
    const ms = await stage.timePicture();
    const text = `${ms.toFixed(0)} ms, ${compiled.take()}`;
    stage.clear(meshes);
    stage.created.renderer.dispose();
    return text;
  };
  const floor = await measure('floor');
  return [{ name: `first picture of ${crowds} × 100, with shadows`, ours: await measure('ours'), floor }];
}

/** What a crowd of another character costs when it comes, prepared or not, and the first edit and colour. */
async function later(kind: Kind, model: string): Promise<CostRow[]> {
  const stage = await Stage.open(kind, true);
  const { renderer } = stage.created;
  const { library, scene, camera } = stage;
  const compiled = countCompiled(stage.created);
  stage.fill('ours', 1, 10)[0].geometry.setDrawRange(0, 3);
  const floorMesh = (await loadModel(model)).root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
  await stage.timePicture();
  compiled.take();
  const still = new InstancedMesh(floorMesh.geometry, floorMesh.material, 10);
  still.castShadow = still.receiveShadow = true;
  still.geometry.setDrawRange(0, 3);
  scene.add(still);
  const floor = `${(await stage.timePicture()).toFixed(0)} ms, ${compiled.take()}`;

  const make = async () => {
    const { root, clips } = await loadModel(model);
    const crowd = new library.SkinnedInstancedMesh(library.bakeCharacter(root, clips), 10);
    crowd.playAll(0).update(0.1);
    crowd.castShadow = crowd.receiveShadow = true;
    crowd.geometry.setDrawRange(0, 3);
    scene.add(crowd);
    return crowd;
  };
  const crowd = await make();
  const rows: CostRow[] = [];
  const row = (name: string, ms: number, of = '') =>
    rows.push({ name, ours: `${ms.toFixed(0)} ms, ${compiled.take()}`, floor: of });
  row('first picture of another character', await stage.timePicture(), floor);
  row('the next', await stage.timePicture());
  crowd.setColorAt(0, new Color('tomato'));
  row('the first `setColorAt`', await stage.timePicture());
  const edits = new library.JointEdits(crowd);
  row('`new JointEdits(crowd)`', await stage.timePicture());
  edits.setRotationAt(0, crowd.boneTexture.jointNames[1], new Quaternion(0, 0.1, 0, 1).normalize());
  row('the first joint edit', await stage.timePicture());
  scene.clear();
  crowd.dispose();

  const other = await Stage.open(kind, true);
  const counted = countCompiled(other.created);
  const { root, clips } = await loadModel(model);
  const prepared = new library.SkinnedInstancedMesh(library.bakeCharacter(root, clips), 10);
  prepared.castShadow = prepared.receiveShadow = true;
  prepared.geometry.setDrawRange(0, 3);
  other.scene.add(prepared.playAll(0).update(0.1));
  await other.created.renderer.compileAsync(other.scene, camera);
  const ahead = counted.take();
  const ms = await other.timePicture();
  rows.push({
    name: '`compileAsync`, then the first picture',
    ours: `${ahead}; ${ms.toFixed(0)} ms, ${counted.take()}; the next ${(await other.timePicture()).toFixed(0)} ms`,
    floor: '',
  });
  renderer.dispose();
  return rows;
}

/** Pictures of 1,000 instances without vertices: what is left is the pose pass. */
async function chain(kind: Kind): Promise<CostRow[]> {
  const measure = async (parentOf: (joint: number) => number) => {
    const stage = await Stage.open(kind);
    const { root, clips } = createJoints(200, parentOf);
    const { SkinnedInstancedMesh: Crowd, bakeCharacter } = stage.library;
    const crowd = new Crowd(bakeCharacter(root, clips), 1000);
    crowd.geometry.setDrawRange(0, 0);
    stage.scene.add(crowd.playAll(0));
    const times: number[] = [];
    for (let round = -3; round < 15; round++) {
      crowd.update(0.013);
      const posed = await stage.timePicture();
      const rest = await stage.timePicture();
      if (round >= 0) times.push(posed - rest);
    }
    crowd.dispose();
    return `${median(times).toFixed(1)} ms`;
  };
  const bushy = await measure((joint) => Math.floor((joint - 1) / 2));
  return [
    { name: 'posing a chain of 200 joints; floor: a bush', ours: await measure((i) => i - 1), floor: bushy },
  ];
}

/** What a crowd costs beside its vertices. Each of these is for a page of its own. */
export const costs: Record<string, (kind: Kind) => Promise<CostRow[]>> = {
  'JavaScript of 10,000': async (kind) => [
    await scriptRow(kind, 'still, one crowd', 1, 10_000, {}),
    await scriptRow(kind, 'the camera turns, one crowd', 1, 10_000, { turns: true }),
    await scriptRow(kind, 'the camera turns, 100 crowds', 100, 100, { turns: true }),
    await scriptRow(kind, 'the same with a shadow map', 100, 100, { turns: true, shadow: true }),
  ],
  'JavaScript of 100,000': async (kind) => [await scriptRow(kind, 'all move', 1, 100_000, { moves: true })],
  calls,
  clock,
  memory,
  'first picture of 1': (kind) => start(kind, 1),
  'first picture of 20': (kind) => start(kind, 20),
  'first picture of 100': (kind) => start(kind, 100),
  'another character': (kind) => later(kind, 'Knight.glb'),
  chain,
};

/** What `measureCosts` knows. */
export const costNames = () => Object.keys(costs);

export const measureCosts = (kind: Kind, name: string): Promise<CostRow[]> => costs[name](kind);
