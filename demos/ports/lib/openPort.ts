import { createRenderer } from '../../lib/createRenderer.js';
import { isSoftwareName } from '../../lib/deviceName.js';
import { createNote, find } from '../../lib/page.js';
import { measureFrames } from './measureFrames.js';
import { Pair } from './Pair.js';
import type { CreateProgram } from './Program.js';
import { runPair } from './runPair.js';
import { Side } from './Side.js';
import { showDiff } from './showDiff.js';
import { visitMoments } from './visitMoments.js';

interface Version {
  create: CreateProgram;
  source: string;
}

const BODY = `
  <p><strong data-lines></strong> <span data-counts></span></p>
  <div class="views">
    <figure><canvas data-view="plain"></canvas><figcaption>SkinnedMesh<b data-cost></b></figcaption></figure>
    <figure><canvas data-view="ported"></canvas><figcaption>SkinnedInstancedMesh<b data-cost></b></figcaption></figure>
    <figure><canvas data-view="difference"></canvas><figcaption data-differ>Pixels that differ, in red</figcaption></figure>
  </div>
  <div class="buttons" data-controls>
    <button type="button" name="pause" aria-pressed="false">Pause</button>
    <button type="button" name="restart">From the start</button>
    <label class="row">Characters <input name="count" type="range" min="4" max="400" step="4" /> <output></output></label>
  </div>
  <div class="scroll"><table>
    <thead><tr><th></th><th></th><th>SkinnedMesh</th><th>Instanced</th></tr></thead>
    <tbody data-figures></tbody>
  </table></div>
  <p data-few hidden>So few characters cost next to nothing either way. A crowd takes a little for itself, whatever its size, and a SkinnedMesh as much for each: pull the slider up, and watch both columns.</p>
  <pre class="source diff"></pre>`;

/**
 * The page of a port: both versions at the same simulated time, and what differs.
 *
 * `?times=1,2.5` goes to those moments, one after the other, and compares both there; `?frames=60` measures so many frames.
 * Without either, both run on. `?count=100` says how many characters there are, `?width=320` how wide pictures are.
 */
export async function openPort(name: string, plain: Version, ported: Version): Promise<void> {
  const query = new URLSearchParams(location.search);
  const main = find('main');
  main.insertAdjacentHTML('beforeend', BODY);
  if (query.get('renderer') === 'webgpu') {
    // The same class from either entry; with this one it knows node materials.
    const { SkinnedInstancedMesh } = await import('skinned-instanced-mesh/webgpu');
    Object.assign(window, { SkinnedInstancedMesh });
  }
  const device = await createRenderer(query.get('renderer'));
  device.renderer.shadowMap.enabled = true;
  main.append(createNote(`Drawn with ${device.label}`, `ports/${name}`));
  showDiff(plain.source, ported.source);

  // A software renderer draws few for as long as a GPU draws many.
  const count = Number(query.get('count') ?? (isSoftwareName(device.name) ? 60 : 200));
  const width = Number(query.get('width') ?? 480);
  const height = Math.round(width * 0.625);
  device.renderer.setSize(width, height, false);
  const sides = [
    new Side('plain', device, plain.create, count),
    new Side('ported', device, ported.create, count),
  ] as const;
  const pair = new Pair(sides, width, height);

  const { dataset } = document.body;
  const times = query.get('times');
  const frames = Number(query.get('frames'));
  if (times === null && frames === 0) {
    runPair(pair, count);
    return;
  }
  find<HTMLElement>('[data-controls]').hidden = true;
  // for tests, which look at every digit
  if (times !== null)
    dataset.moments = JSON.stringify(await visitMoments(pair, times.split(',').map(Number)));
  else dataset.measured = JSON.stringify(await measureFrames(pair, frames));
  dataset.ready = '1';
}
