import { float, materialEmissive, vec3 } from 'three/tsl';
import type { Node, NodeBuilder, NodeMaterial } from 'three/webgpu';
import {
  buildOf,
  type DrawnMaterial,
  materialReferenceOf,
  opacityNodeOf,
  withoutOverride,
} from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import { overrideShadowMap } from './materialOfCrowd.js';
import { uniformNode } from './uniformNodes.js';

/** Builds a part of a material's surface. What nodes the material has for it is changed meanwhile, and put back. */
export type SetupSurface = (this: NodeMaterial, builder: NodeBuilder) => unknown;

type Nodes = Partial<Record<'opacityNode' | 'emissiveNode', Node | null>>;

/** What multiplies the opacity where the user says another one, and which maps make holes in shadows. */
export function colorOfCrowd(material: DrawnMaterial, builder: NodeBuilder, crowd: DrawnCrowd): Nodes {
  if (material.isShadowPassMaterial === true) {
    if (material.colorNode !== null) overrideShadowMap(material, material.colorNode, builder, crowd);
    return {};
  }
  const opacityNode = opacityNodeOf(material);
  const opacity = uniformNode<'float'>(crowd, builder, 'opacity');
  if (opacity === null || opacityNode === null) return {};
  // It may ask for the material's opacity, which is multiplied elsewhere.
  const own = withoutOverride(float(opacityNode), materialReferenceOf('opacity', 'float'));
  return { opacityNode: own.mul(opacity) };
}

/** What is added to the emission, where the material has any. */
export function lightingOfCrowd(material: DrawnMaterial, builder: NodeBuilder, crowd: DrawnCrowd): Nodes {
  const { emissive, emissiveNode } = material;
  if (emissive === undefined && !emissiveNode) return {};
  const added = uniformNode<'vec3'>(crowd, builder, 'emissive');
  return added === null ? {} : { emissiveNode: vec3(emissiveNode ?? materialEmissive).add(added) };
}

/** A method that builds a surface with nodes that `nodesFor` returns in the place of the material's. */
export const surfaceOfCrowd = (
  original: (material: NodeMaterial) => SetupSurface,
  nodesFor: (material: DrawnMaterial, builder: NodeBuilder, crowd: DrawnCrowd) => Nodes,
): SetupSurface =>
  function setupSurface(this: NodeMaterial, builder: NodeBuilder): unknown {
    const { object } = buildOf(builder);
    if (!isCrowd(object)) return original(this).call(this, builder);
    const material = this as DrawnMaterial & Nodes;
    const nodes = nodesFor(material, builder, object);
    const kept: Nodes = {};
    for (const name of Object.keys(nodes) as (keyof Nodes)[]) kept[name] = material[name];
    Object.assign(material, nodes);
    try {
      return original(this).call(this, builder);
    } finally {
      Object.assign(material, kept);
    }
  };
