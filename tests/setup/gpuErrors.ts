import { afterEach, expect } from 'vitest';

/** What devices of the page have complained of, and those that are still there. */
interface Watched {
  errors: Set<string>;
  devices: Set<GPUDevice>;
}

/** Once for all files of a page. */
const page = globalThis as { watchedDevices?: Watched };

function watchDevices(): Watched {
  const watched: Watched = { errors: new Set(), devices: new Set() };
  if (typeof GPUAdapter === 'undefined') return watched;
  const { requestDevice } = GPUAdapter.prototype;
  GPUAdapter.prototype.requestDevice = async function (descriptor) {
    const device = await requestDevice.call(this, descriptor);
    watched.devices.add(device);
    device.addEventListener('uncapturederror', ({ error }) => watched.errors.add(error.message));
    device.lost.then(() => watched.devices.delete(device));
    return device;
  };
  return watched;
}

page.watchedDevices ??= watchDevices();
const { errors, devices } = page.watchedDevices;

// A draw with a wrong buffer is left out by WebGPU, and says so in an event that nobody may have asked for.
afterEach(async () => {
  await Promise.all([...devices].map(({ queue }) => queue.onSubmittedWorkDone()));
  const said = [...errors];
  errors.clear();
  expect(said, 'errors of WebGPU').toEqual([]);
});
