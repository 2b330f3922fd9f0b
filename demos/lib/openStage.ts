import { createRenderer } from './createRenderer.js';
import type { Cost } from './Figures.js';
import { createNote, find } from './page.js';
import { Stage } from './Stage.js';

/** What every page begins with: the renderer that `?renderer=` asks for, a stage behind the panel, and the library. */
export async function openStage() {
  const query = new URLSearchParams(location.search);
  // The same class from either entry; the one for WebGPURenderer brings node materials along.
  const { SkinnedInstancedMesh } =
    query.get('renderer') === 'webgpu'
      ? await import('skinned-instanced-mesh/webgpu')
      : await import('skinned-instanced-mesh');

  const device = await createRenderer(query.get('renderer'));
  const stage = new Stage(device.renderer);
  const panel = find<HTMLDetailsElement>('.panel');
  panel.append(createNote(device.label));
  if (innerWidth < 480) panel.open = false;
  stage.resize();
  window.addEventListener('resize', () => stage.resize());

  /** Does the work of a frame, drawing included, and says what it took. */
  const measure = (work: () => void): Cost => {
    const { info } = device.renderer;
    info.reset();
    device.calls.reset();
    const start = performance.now();
    work();
    const js = performance.now() - start;
    const { draws, bytes } = device.calls;
    return { js, draws, triangles: info.render.triangles, bytes };
  };
  return { query, Crowd: SkinnedInstancedMesh, device, stage, measure };
}
