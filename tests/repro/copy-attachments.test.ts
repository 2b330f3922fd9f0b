import { BoxGeometry, MeshBasicMaterial } from 'three';
import { expect, test } from 'vitest';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

const box = () => [new BoxGeometry(), new MeshBasicMaterial()] as const;

test('copy of a crowd without the joint of an attachment of an attachment is an error, and changes nothing', () => {
  const { root, clips } = createStick();
  const source = SkinnedInstancedMesh.from(root, clips, 3);
  const { root: other, bones } = createStick();
  const tip = bones[1].clone();
  tip.name = 'Socket';
  bones[1].add(tip);
  const boneTexture = BoneTexture.bake(other, clips, { sockets: ['Socket'] });
  const crowd = SkinnedInstancedMesh.from(other, clips, 2, { boneTexture });
  const hat = crowd.attachToJoint('Tip', ...box());
  hat.attachToJoint('Socket', ...box());
  expect(() => crowd.copy(source)).toThrow('SkinnedInstancedMesh.copy: no joint "Socket"');
  expect(crowd.boneTexture).toBe(boneTexture);
  expect(crowd.capacity).toBe(2);
});

test('a copy of an attachment that becomes a copy of another follows the joint of that one', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  const hat = crowd.attachToJoint('Tip', ...box());
  const shoe = crowd.attachToJoint('Base', ...box());
  const copy = hat.clone().copy(shoe);
  const jointOf = ({ geometry }: typeof hat) => geometry.getAttribute('skinIndex').getX(0);
  expect(jointOf(copy)).toBe(jointOf(shoe));
  copy.boneTexture = BoneTexture.bake(root, clips, { encoding: 'quaternion' });
  expect(jointOf(copy)).toBe(jointOf(shoe));
});
