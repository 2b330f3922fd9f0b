import type { BodyNames } from 'skinned-instanced-mesh';
import type { Object3D } from 'three';
import { load } from '../lib/loadCharacter.js';

/** A body, and who has made it. */
export interface Body {
  root: Object3D;
  maker: string;
  /** What its joints are, where their names do not say it. */
  names: BodyNames;
}

const HOODED = new URL('../art/rogue.glb', import.meta.url);
const VILLAGER = new URL('../art/villager.glb', import.meta.url);

/** Test models that may be looked at, but are not part of the site: the development server has them if they are beside the checkout. */
const MODELS = '/__models__/';
const OF_MODELS: Record<string, Omit<Body, 'root'>> = {
  'RobotExpressive.glb': { maker: 'Tomás Laulhé', names: {} },
  'CesiumMan.glb': { maker: 'Cesium', names: namesOfCesium() },
};

function namesOfCesium(): BodyNames {
  const arms = { L: ['L__4_', 'L__3_', 'L__2_'], R: ['R', 'R__2_', 'R__3_'] };
  const names: BodyNames = { head: 'Skeleton_neck_joint_2' };
  for (const [side, joints] of Object.entries(arms))
    joints.forEach((joint, i) => {
      names[['upperArm', 'lowerArm', 'hand'][i] + side] = `Skeleton_arm_joint_${joint}`;
      names[['upperLeg', 'lowerLeg', 'foot'][i] + side] = `leg_joint_${side}_${i + 1}`;
    });
  return names;
}

/** Loads the bodies that nobody has asked for yet, whose joints have nothing in common but what they are. */
export async function loadBodies(): Promise<Body[]> {
  const served: string[] = import.meta.env.DEV ? await (await fetch(`${MODELS}index.json`)).json() : [];
  const files = [
    ...[HOODED, VILLAGER].map((url) => ({ url, maker: 'Kay Lousberg', names: {} })),
    ...served
      .filter((file) => file in OF_MODELS)
      .map((file) => ({ url: new URL(MODELS + file, location.href), ...OF_MODELS[file] })),
  ];
  return Promise.all(files.map(async ({ url, ...body }) => ({ ...body, root: (await load(url)).scene })));
}
