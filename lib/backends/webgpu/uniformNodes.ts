import { Fn, float, int, varying, vec2, vec3, vec4 } from 'three/tsl';
import type { Node, NodeBuilder } from 'three/webgpu';
import { layeredOf } from '../../../shaders/TexelNode.js';
import { buildOf, numbersIn, onceABuild, type UniformNodeType, uniformOfType } from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import {
  initialOf,
  isSurfaceValue,
  layoutOfNumber,
  SURFACE_VALUES,
  type SurfaceValue,
  type UniformPlace,
  type UniformType,
} from '../../instances/UniformLayout.js';
import { warnOnce } from '../../utils/messages.js';
import { drawnTexels, instanceNode, variantFor } from './crowdNodes.js';

/** Where something that instances have of their own lies; undefined if they have nothing of that name. */
export function uniformPlace(
  crowd: DrawnCrowd,
  builder: NodeBuilder,
  name: string,
): UniformPlace | undefined {
  const { material } = buildOf(builder);
  return layoutOfNumber(variantFor(material, crowd).uniforms).places.get(name);
}

/** What the drawn instance has of its own, in either stage; null if instances have nothing of that name. */
export function uniformNode<T>(crowd: DrawnCrowd, builder: NodeBuilder, name: string): Node<T> | null {
  const place = uniformPlace(crowd, builder, name);
  return place ? numbersIn<T>(texelNode(crowd, builder, place.at >> 2), place.at, place.size) : null;
}

const readTexels = /*@__PURE__*/ onceABuild(() => new Map<number, Node<'vec4'>>());

/** A texel of what the drawn instance has, as a varying. Twin of `readUniformsGLSL`. */
function texelNode(crowd: DrawnCrowd, builder: NodeBuilder, texel: number): Node<'vec4'> {
  if (crowd.instanceUniforms === null) return vec4(0);
  const { texels } = crowd.instanceUniforms.layout;
  const read = readTexels(crowd, builder);
  const inVertexStage = Fn(() => {
    const numbers = drawnTexels(crowd, ({ instanceUniforms: own }) => own && layeredOf(own.texture));
    return numbers.instanceTexels(instanceNode(crowd, builder), texels, int(texel), 1)[0];
  });
  const node = read.get(texel) ?? varying(inVertexStage());
  read.set(texel, node);
  return node;
}

/**
 * TSL building block: what the drawn instance was given by `InstanceUniforms`, in whatever node asks for it, of vertices or of
 * fragments. On objects that are no crowds it is zero.
 *
 * ```ts
 * new InstanceUniforms(crowd, { dirt: 'float' });
 * const material = new MeshStandardNodeMaterial();
 * material.colorNode = mix(color('white'), color('brown'), instanceUniform('dirt', 'float'));
 * ```
 *
 * @param name One that the crowd's `InstanceUniforms` declare, or `'emissive'`, `'opacity'`, `'roughness'`, `'metalness'`,
 * `'mapLayer'`.
 * @param type As it was declared.
 *
 * @category Dress and attach
 */
export function instanceUniform<T extends UniformType>(name: string, type: T): Node<UniformNodeType<T>> {
  const read = Fn((builder: NodeBuilder) => {
    const { object } = buildOf(builder);
    if (!isCrowd(object)) return zeroOf(type);
    const place = uniformPlace(object, builder, name);
    if (place?.type === type) return uniformNode(object, builder, name) ?? zeroOf(type);
    // What takes the place of the material's need not be declared.
    if (place === undefined && isSurfaceValue(name) && SURFACE_VALUES[name].type === type)
      return initially(name);
    const { places } = layoutOfNumber(variantFor(buildOf(builder).material, object).uniforms);
    const names = [...places.values()].map((one) => `${one.name}: '${one.type}'`).join(', ');
    warnOnce(
      `instanceUniform: the crowd "${object.name}" has no uniform "${name}" of type '${type}', but ${names || 'none'}; declare it: new InstanceUniforms(crowd, { ${name}: '${type}' }).`,
    );
    return zeroOf(type);
  });
  return uniformOfType<T>(read());
}

const zeros = { float, vec2, vec3, color: vec3, vec4 };

const zeroOf = (type: UniformType): Node => zeros[type](0);

/** What instances begin with. */
const initially = (name: SurfaceValue): Node => (name === 'emissive' ? vec3(0) : float(initialOf(name)[0]));
