import { Matrix4, PerspectiveCamera } from 'three';
import { CrowdViews } from '../../lib/views/CrowdViews.js';
import { random } from '../support/random.js';
import { ViewedCrowd } from '../support/viewedCrowd.js';

const FRAMES = 120;
const _world = new Matrix4();

/** What a frame does before it asks what the camera sees. */
type Frame = (frame: number) => void;

function median(work: Frame, prepare: Frame): number {
  const times: number[] = [];
  for (let frame = 0; frame < FRAMES; frame++) {
    prepare(frame);
    const start = performance.now();
    work(frame);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[FRAMES / 2];
}

/** Milliseconds of JavaScript per frame and camera to list what a camera sees of so many instances: about a quarter. */
export function listTimes(count: number): Record<string, string> {
  const crowd = new ViewedCrowd(count, random(1), Math.sqrt(count));
  const views = new CrowdViews(crowd);
  const camera = new PerspectiveCamera(55, 1.77, 0.1, 10 * Math.sqrt(count));
  const turn = (frame: number) => {
    camera.rotation.y = frame * 0.02;
    camera.updateMatrixWorld();
  };
  const move = (frame: number) => {
    turn(frame);
    const { array } = crowd.places.attribute;
    for (let at = 12; at < array.length; at += 16) array[at] += 0.01 * Math.sin(frame);
    crowd.places.attribute.needsUpdate = true;
  };
  let seen = 0;
  const list = (frame: number) => {
    seen = views.of(camera, _world, frame).of(null).count;
  };
  const sort = (frame: number) => {
    views.of(camera, _world, frame).inOrder(null, false, _world, views);
  };
  const ms = (value: number) => value.toFixed(3);
  median(list, turn);
  const still = median(list, () => {});
  const turning = median(list, turn);
  const moving = median(list, move);
  views.order.sortObjects = true;
  const sorted = median(sort, turn);
  views.order.sortObjects = false;
  views.order.maxVisible = count / 20;
  const nearest = median(list, turn);
  views.order.maxVisible = Infinity;
  list(0);
  return {
    instances: String(count),
    seen: `${((seen / count) * 100).toFixed(0)} %`,
    still: ms(still),
    'camera turns': ms(turning),
    'all move too': ms(moving),
    sorted: ms(sorted),
    'nearest 5 %': ms(nearest),
  };
}
