import { afterAll, beforeAll } from 'vitest';
import { PackedApp } from '../../support/PackedApp.js';

/** The app that all tests of the package share: to build and install it takes longer than most of them. */
export let packed: PackedApp;
beforeAll(() => {
  packed = new PackedApp();
});
afterAll(() => packed?.dispose());
