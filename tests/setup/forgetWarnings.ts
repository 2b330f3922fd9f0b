import { beforeEach } from 'vitest';
import { warned } from '../../lib/utils/messages.js';

// Files of tests share the library's modules: a warning that another test has seen would be missing in the one that waits for it.
beforeEach(() => warned.clear());
