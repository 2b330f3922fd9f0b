import { HalfFloatType } from 'three';
import { createRenderer } from './createRenderer.js';
import { isSoftwareName } from './deviceName.js';
import type { Cost } from './Figures.js';
import { createNote, find } from './page.js';
import { Stage } from './Stage.js';

/** On narrower screens panels begin closed: an open one takes half of the screen or more. */
const WIDE = '(min-width: 641px)';

/**
 * What every page begins with: the renderer that `?renderer=` asks for, a stage behind the panel, and the library.
 *
 * @param options.beside Whether the middle of the view is in the middle of what the panel leaves free.
 */
export async function openStage({ beside = true } = {}) {
  const query = new URLSearchParams(location.search);
  const panel = find<HTMLDetailsElement>('.panel');
  panel.open = matchMedia(WIDE).matches;
  find<HTMLElement>('summary').dataset.what = document.title.split(': ').at(-1);
  // The same classes from either entry; the one for WebGPURenderer brings node materials along.
  const {
    SkinnedInstancedMesh,
    CrowdKinds,
    InstanceMorphs,
    InstanceMotions,
    InstanceParts,
    JointEdits,
    frames,
  } =
    query.get('renderer') === 'webgpu'
      ? await import('skinned-instanced-mesh/webgpu')
      : await import('skinned-instanced-mesh');

  // half floats: fog and sky are mixed before tone mapping, as WebGPURenderer does it
  const device = await createRenderer(query.get('renderer'), { outputBufferType: HalfFloatType });
  const isSoftware = isSoftwareName(device.name);
  // What takes a software renderer longest is vertices: it has a coarser figure, and tests ask for one coarser still.
  const detail = Number(query.get('detail') ?? (isSoftware ? 0.6 : 1));
  const stage = new Stage(device.renderer, isSoftware ? 1024 : 2048);
  panel.append(createNote(`Drawn with ${device.label}`));
  if (beside) stage.standBeside(panel);
  stage.resize();
  window.addEventListener('resize', () => stage.resize());

  /** Does the work of a frame, drawing included, and says what it took. */
  const measure = (work: () => void): Cost => {
    const { info } = device.renderer;
    info.reset();
    device.calls.reset();
    device.indirect.reset();
    const start = performance.now();
    work();
    const js = performance.now() - start;
    const { drawsFor, bytes } = device.calls;
    const triangles = info.render.triangles + device.indirect.count();
    const { characters, shadows, poses } = drawsFor;
    return { js, draws: characters, shadowDraws: shadows, poseDraws: poses, triangles, bytes };
  };
  return {
    query,
    detail,
    Crowd: SkinnedInstancedMesh,
    CrowdKinds,
    InstanceMorphs,
    InstanceMotions,
    InstanceParts,
    JointEdits,
    frames,
    device,
    isSoftware,
    stage,
    measure,
  };
}
