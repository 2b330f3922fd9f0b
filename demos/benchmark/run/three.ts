import { HemisphereLight, Scene, type WebGLRenderer } from 'three';
import { createCharacter } from '../../character.js';
import { createRenderer } from '../../lib/createRenderer.js';
import { CONTENDERS, sourceOf } from '../contenders.js';
import { createGpuTimer } from '../gpuTimer.js';
import { finisher, measure } from '../measure.js';
import { createCamera, HEIGHT, WIDTH } from '../view.js';
import type { MeasuredRow } from './Report.js';

/** Measures one of the ways of drawing that three.js has. */
export async function run(query: URLSearchParams): Promise<MeasuredRow> {
  const kind = query.get('renderer') === 'webgpu' ? 'webgpu' : 'webgl';
  if (kind === 'webgpu') await import('skinned-instanced-mesh/webgpu');
  const created = await createRenderer(kind, { antialias: false });
  const { renderer, device, calls, label } = created;
  renderer.setSize(WIDTH, HEIGHT);
  document.body.append(renderer.domElement);

  const contender = query.get('contender') ?? '';
  const { name, create } = CONTENDERS[contender];
  const count = Number(query.get('count'));
  const source = sourceOf('the built-in character', createCharacter());
  // with next to nothing to draw, what is left is JavaScript and uploads
  if (query.get('vertices') === '0') source.mesh.geometry.setDrawRange(0, 3);
  const crowd = create(source, count, renderer as WebGLRenderer);
  crowd.object.traverse((node) => {
    node.frustumCulled = false;
  });

  const scene = new Scene().add(new HemisphereLight(0xffffff, 0x888888, 3), crowd.object);
  const camera = createCamera(count);
  const frame = () => {
    crowd.update(1 / 60);
    renderer.render(scene, camera);
  };
  const subject = {
    frame,
    finish: finisher(created),
    calls,
    timer: createGpuTimer(device, created.gl, created.name),
  };
  const measured = await measure(subject, query.get('measure') ?? '', Number(query.get('budget')));
  return {
    contender,
    name,
    count,
    ...measured,
    renderer: label,
    device: created.name,
  };
}
