// Draws the scenes with the renderers that the address names, and sends what came out to the command that opened the page:
// `begin`, one `scene` each, `end`; and a `problem` whenever there is one, see index.html.
import { Group, Vector3 } from 'three';
import { createStage } from '../support/pictures.js';
import { createDrawing, type Drawing } from './Drawing.js';
import { arrange, type EngineScene, HEIGHT } from './EngineScene.js';
import type { RendererName } from './renderers.mjs';
import { allScenes } from './scenes/index.js';

declare global {
  interface Window {
    engines: {
      /** What is being drawn, which problems are put down to. */
      scene: string | null;
      post(kind: string, body: BodyInit): Promise<void>;
      problem(text: string): void;
      sent(): Promise<unknown>;
    };
  }
}

/** How much nearer the camera goes than the stage has it, as a share of the way to the middle. */
const NEARER = 0.1;

const { engines } = window;

/** What the engine says it draws on; null without WebGL 2. */
function deviceName(): string | null {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (gl === null) return null;
  // Firefox names it without the extension, which it warns of.
  const info = navigator.userAgent.includes('Firefox') ? null : gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER));
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return name;
}

async function drawScene(drawing: Drawing, renderer: RendererName, one: EngineScene): Promise<void> {
  const start = performance.now();
  const built = await one.build();
  const { object, bounds } = arrange(built);
  const { scene, camera } = createStage(bounds, built.light ?? 'directional');
  camera.position.lerp(bounds.getCenter(new Vector3()), NEARER);
  camera.updateMatrixWorld();
  const empty = await drawing.picture(scene, camera, new Group());
  const picture = await drawing.picture(scene, camera, object);

  const form = new FormData();
  for (const [name, crowd] of Object.entries(built.crowds)) {
    for (const [what, readBack] of Object.entries(one.readBack)) {
      const numbers = (await readBack(drawing, crowd)) as Float32Array<ArrayBuffer>;
      form.append(`${name}: ${what}`, new Blob([numbers]));
    }
  }
  const error = drawing.glError();
  if (error !== null) engines.problem(`WebGL's error is ${error}.`);

  for (const crowd of Object.values(built.crowds)) crowd.dispose();
  form.append('picture', new Blob([picture as Uint8Array<ArrayBuffer>]));
  form.append('empty', new Blob([empty as Uint8Array<ArrayBuffer>]));
  const seconds = (performance.now() - start) / 1000;
  const { backend } = drawing;
  const { height = HEIGHT } = built;
  form.append('about', JSON.stringify({ renderer, backend, scene: one.name, height, seconds }));
  await engines.sent();
  await engines.post('scene', form);
}

async function main(): Promise<void> {
  const parameters = new URLSearchParams(location.search);
  const renderers = JSON.parse(parameters.get('renderers') ?? '[]') as RendererName[];
  const only = parameters.get('scene');
  const scenes = (await allScenes()).filter(({ name }) => only === null || name === only);
  const about = { device: deviceName(), scenes: scenes.map(({ name }) => name) };
  await engines.post('begin', JSON.stringify(about));
  // The command ends here with engines that have nothing to draw on.
  if (about.device === null) return;
  for (const renderer of renderers) {
    const drawing = await createDrawing(renderer);
    for (const one of scenes) {
      engines.scene = `${renderer}: ${one.name}`;
      try {
        await drawScene(drawing, renderer, one);
      } catch (error) {
        engines.problem(wordsOf(error));
      }
    }
    engines.scene = null;
    drawing.dispose();
  }
}

const wordsOf = (error: unknown): string =>
  error instanceof Error ? `${error.message}\n${error.stack}` : String(error);

main()
  .catch((error) => engines.problem(wordsOf(error)))
  .then(engines.sent)
  .then(() => engines.post('end', ''));
