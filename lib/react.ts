/**
 * Components and hooks for react-three-fiber.
 *
 * @module skinned-instanced-mesh/react
 */

import type { FunctionComponent } from 'react';
import { SkinnedInstancedMesh } from './index.js';
import { type CrowdProps, crowdComponent } from './react/components.js';

/**
 * A crowd, in which each `<CrowdInstance>` is a character; its clock runs by `useFrame`.
 *
 * @category Crowd
 */
export const Crowd: FunctionComponent<CrowdProps> = /*@__PURE__*/ crowdComponent(SkinnedInstancedMesh);

export type {
  CrowdAnimations,
  CrowdInstanceOptions,
  CrowdInstanceProps,
  CrowdOptions,
  CrowdProps,
} from './react/components.js';
export { CrowdInstance, useCharacter, useCrowd, useCrowdAnimations } from './react/components.js';
