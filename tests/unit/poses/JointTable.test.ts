import { Bone } from 'three';
import { expect, test } from 'vitest';
import { JointTable } from '../../../lib/poses/JointTable.js';

const BIND = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];
const table = new JointTable(['Hips', 'Hand', 'Cloak', 'Hand'], [BIND, BIND, null, BIND]);

test('a joint is the first of its name, a socket the last', () => {
  expect(table.indexOf('Hand', 'test')).toBe(1);
  expect(table.socket('Hand', 'test').joint).toBe(3);
  expect(table.socket(1, 'test')).toEqual({ joint: 1, bind: BIND });
});

test('what is no joint is named, with the way out', () => {
  expect(() => table.indexOf('Tail', 'test')).toThrow(
    'test: no joint "Tail"; the bone texture has 4 joints, "Hips" to "Hand".',
  );
  expect(() => table.indexOf(4, 'test')).toThrow('test: no joint 4;');
  expect(() => table.indexOf(1.5, 'test')).toThrow('test: no joint 1.5;');
  const bone = Object.assign(new Bone(), { name: 'Hand' });
  expect(() => table.socket(bone as never, 'test')).toThrow('test: no joint Bone "Hand";');
  expect(() => table.socket('Tail', 'test')).toThrow(`bake with sockets: ['Tail']`);
  expect(() => table.socket('Cloak', 'test')).toThrow('is of a skin in detached bind mode');
});
