import type { WebGPURenderer } from 'three/webgpu';
import type { Created } from './createRenderer.js';
import { find, toggle } from './page.js';
import type { Stage } from './Stage.js';

/**
 * What games draw pictures with, from three.js's addons, under WebGPURenderer: ambient occlusion, antialiasing over time by the
 * motion vectors of all that moves, and depth of field about what the camera looks at.
 *
 * @returns What draws a frame.
 */
export async function createEffects({ renderer, scene, camera, controls }: Stage): Promise<() => void> {
  const [{ RenderPipeline }, { mrt, output, pass, uniform, velocity }, { ao }, { traa }, { dof }] =
    await Promise.all([
      import('three/webgpu'),
      import('three/tsl'),
      import('three/addons/tsl/display/GTAONode.js'),
      import('three/addons/tsl/display/TRAANode.js'),
      import('three/addons/tsl/display/DepthOfFieldNode.js'),
    ]);
  // No samples of a pixel: TRAA moves the camera by parts of one instead.
  const drawn = pass(scene, camera, { samples: 0 });
  drawn.setMRT(mrt({ output, velocity }));
  const depth = drawn.getTextureNode('depth');
  // Normals come from the depth.
  const occlusion = ao(depth, null as never, camera);
  occlusion.resolutionScale = 0.5;
  occlusion.radius.value = 0.6;
  const shaded = drawn.getTextureNode('output').mul(occlusion.getTextureNode().r);
  const smooth = traa(shaded, depth, drawn.getTextureNode('velocity'), camera);
  const focus = uniform(10);
  const range = uniform(10);
  const pipeline = new RenderPipeline(renderer as WebGPURenderer);
  pipeline.outputNode = dof(smooth, drawn.getViewZNode(), focus, range, 2);
  return () => {
    // TRAA has an offset of its own.
    camera.clearViewOffset();
    focus.value = camera.position.distanceTo(controls.target);
    range.value = focus.value * 1.2;
    renderer.setScissorTest(false);
    pipeline.render();
  };
}

/** Draws with them while the page's button is pressed, which is out of use where there is no WebGPU. */
export function offerEffects(stage: Stage, { device }: Created, begins: boolean): void {
  if (device === null) {
    find<HTMLButtonElement>('[name=effects]').disabled = true;
    return;
  }
  let made: Promise<() => void> | null = null;
  toggle('effects', begins, async (value) => {
    made ??= value ? createEffects(stage) : null;
    stage.effects = value ? await made : null;
    stage.resize();
  });
}
