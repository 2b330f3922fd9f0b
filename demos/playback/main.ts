import {
  applyRootMotion,
  assembleCharacter,
  bakeBoneTexture,
  extractRootMotion,
} from 'skinned-instanced-mesh';
import { LoopOnce, LoopRepeat, Matrix4, Vector3 } from 'three';
import { Figures } from '../lib/Figures.js';
import { openStage } from '../lib/openStage.js';
import { Picker } from '../lib/Picker.js';
import { fail, find, onKey, secondsBetween, showValue, slide, toggle } from '../lib/page.js';
import { crowdRadius, partOf, placeOf } from '../lib/plan.js';
import { Ring } from '../lib/Ring.js';
import { addLevels, createPeople, dress } from '../people.js';

const MOST = 5_000;
const HEIGHT = 1.8;
/** Width of a character with some room around it. */
const SIZE = 1.3;
/** Places that stay free around the one in the middle. */
const CLEARING = 14;
const LOG_LINES = 7;

const { query, detail, Crowd, InstanceParts, isSoftware, stage, measure } = await openStage();
const figures = new Figures(find('tbody'), ['crowd']);

// --- the crowd ---

const { root, clips } = createPeople({ detail, travel: true });
const boneTexture = bakeBoneTexture(root, clips, {
  rootMotion: extractRootMotion({ clips: ['Walk', 'Run'] }),
});
boneTexture
  .addMarker('Walk', 0.04, 'left foot')
  .addMarker('Walk', 0.54, 'right foot')
  .addMarker('Run', 0.03, 'left foot')
  .addMarker('Run', 0.38, 'right foot')
  .addMarker('Jump', 0.56, 'take-off')
  .addMarker('Jump', 1, 'landing');

const crowd = new Crowd(assembleCharacter(root, boneTexture), MOST);
crowd.castShadow = true;
crowd.receiveShadow = true;
// They walk off; bounds that follow would be computed anew each frame.
crowd.frustumCulled = false;
addLevels(crowd, detail);
const parts = new InstanceParts(crowd);

const _matrix = new Matrix4();
for (let i = 0; i < MOST; i++) {
  dress(parts, i);
  crowd.setMatrixAt(i, i === 0 ? _matrix.identity() : placeOf(i + CLEARING, SIZE, _matrix));
}
crowd.playAll((i) => (i === 0 ? 'Idle' : partOf(i, clips.length).clip), {
  time: (i) => partOf(i, 1).time,
  timeScale: (i) => partOf(i, 1).timeScale,
});

const ring = new Ring(stage);
stage.scene.add(crowd, ring);

// --- the one that was clicked ---

let selected = 0;
const how = { fade: 0.3, once: false, sync: false, rootMotion: false };

function play(clip: string): void {
  const covers = boneTexture.clips.find(({ name }) => name === clip)?.rootMotion !== null;
  crowd.play(selected, clip, {
    fade: how.fade,
    loop: how.once ? LoopOnce : LoopRepeat,
    clampWhenFinished: true,
    sync: how.sync,
    rootMotion: how.rootMotion && covers,
    timeScale: Number(find<HTMLInputElement>('[name=speed]').value) || 1,
    restart: true,
  });
  setPaused(false);
  log(`play ${clip}${how.fade > 0 ? `, fade ${how.fade} s` : ''}`);
}

function select(index: number): void {
  selected = index;
  find('.log').replaceChildren();
  setSpeed(crowd.getTimeScaleAt(index));
  setPaused(crowd.isPausedAt(index));
}

function log(text: string): void {
  const list = find('.log');
  const line = document.createElement('li');
  line.textContent = `${crowd.elapsed.toFixed(2)} s  ${text}`;
  list.prepend(line);
  while (list.children.length > LOG_LINES) list.lastElementChild?.remove();
}

// A crowd dispatches what happens to any of its characters; instanceId says to which.
crowd.addEventListener('finished', ({ instanceId, clip }) => {
  if (instanceId === selected) log(`finished ${clip}`);
});
crowd.addEventListener('loop', ({ instanceId, clip }) => {
  if (instanceId === selected) log(`loop ${clip}`);
});
crowd.addEventListener('marker', ({ instanceId, clip, name }) => {
  if (instanceId === selected) log(`mark ${clip}: ${name}`);
});

// --- the page ---

let changes = Number(query.get('changes') ?? 300);

function setSpeed(value: number): void {
  const input = find<HTMLInputElement>('[name=speed]');
  input.value = String(value);
  showValue('speed', value.toFixed(1));
}

function setPaused(value: boolean): void {
  find('button[name=pause]').setAttribute('aria-pressed', String(value));
}

function setCount(value: number): void {
  crowd.count = value;
  if (selected >= value) select(0);
}

function listen(): void {
  for (const { name } of clips) {
    const button = document.createElement('button');
    button.type = 'button';
    button.dataset.clip = name;
    button.textContent = name;
    button.addEventListener('click', () => play(name));
    find('[data-clips]').append(button);
  }
  for (const name of ['once', 'sync', 'rootMotion'] as const) {
    toggle(name, how[name], (value) => {
      how[name] = value;
    });
  }
  toggle('pause', false, (value) => {
    if (value) crowd.pause(selected);
    else crowd.resume(selected);
  });
  find('button[name=stop]').addEventListener('click', () => crowd.stop(selected, { fade: how.fade }));

  begin('fade', how.fade, (value) => {
    how.fade = value;
  });
  begin('speed', 1, (value) => crowd.setTimeScaleAt(selected, value));
  begin(
    'count',
    Math.min(MOST, Math.max(1, Number(query.get('count') ?? (isSoftware ? 150 : MOST)))),
    setCount,
  );
  begin('changes', changes, (value) => {
    changes = value;
  });
  onKey('n', () => select((selected + 1) % crowd.count));
  onKey('p', () => select((selected + crowd.count - 1) % crowd.count));
  new Picker(stage, crowd).onClick(({ instanceId = 0 }) => select(instanceId));
}

/** A slider and where it stands at first. */
function begin(name: string, value: number, apply: (value: number) => void): void {
  find<HTMLInputElement>(`[name=${name}]`).value = String(value);
  showValue(name, String(value));
  if (name === 'count') apply(value);
  slide(name, apply);
}

// --- frames ---

let due = 0;

/** Lets some of the others change clip, each fading into the next. */
function changeSome(delta: number): void {
  due += changes * delta;
  for (; due >= 1; due--) {
    const index = Math.floor(Math.random() * crowd.count);
    if (index === selected) continue;
    const clip = Math.floor(Math.random() * clips.length);
    crowd.play(index, clip, { fade: 0.3, timeScale: 0.8 + 0.4 * Math.random() });
  }
}

const _place = new Vector3();

function show(): void {
  const clip = crowd.getClipAt(selected);
  const duration = boneTexture.clips.find(({ name }) => name === clip)?.duration ?? 0;
  find('[data-selected]').textContent =
    `Character ${selected}: ${clip ?? 'rest pose'}${crowd.isPlayingAt(selected) ? '' : ', still'}`;
  find<HTMLProgressElement>('.time').value = duration > 0 ? crowd.getTimeAt(selected) / duration : 0;
  for (const button of document.querySelectorAll<HTMLElement>('[data-clip]')) {
    button.setAttribute('aria-pressed', String(button.dataset.clip === clip));
  }
}

let last = performance.now();

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  const cost = measure(() => {
    changeSome(delta);
    crowd.update(delta);
    applyRootMotion(crowd, delta);
    crowd.getMatrixAt(selected, _matrix);
    ring.follow(selected, _place.setFromMatrixPosition(_matrix), delta);
    stage.controls.update();
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  show();
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

stage.shadows = query.get('shadows') !== '0';
stage.frame(HEIGHT, 0.5 * crowdRadius(CLEARING, SIZE), crowdRadius(2 * MOST, SIZE));
try {
  listen();
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
