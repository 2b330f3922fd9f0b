import { type Material, NoBlending, UnsignedByteType, Vector2, WebGLCoordinateSystem } from 'three';
import {
  attribute,
  cameraFar,
  cameraNear,
  cameraProjectionMatrix,
  cameraWorldMatrix,
  clamp,
  diffuseColor,
  Fn,
  int,
  mrt,
  normalView,
  positionGeometry,
  positionView,
  positionWorld,
  sqrt,
  texture,
  uniform,
  varying,
  vec4,
  viewZToLogarithmicDepth,
  viewZToOrthographicDepth,
} from 'three/tsl';
import { type Node, type NodeBuilder, NodeMaterial, RendererUtils, type WebGPURenderer } from 'three/webgpu';
import { TILE_TEXELS } from '../../../shaders/atlasLayout.js';
import {
  impostorFragment,
  placeImpostor,
  resolveTile,
  tileColor,
  tilePart,
  tileShape,
} from '../../../shaders/impostor.tsl.js';
import { layeredOf, texels } from '../../../shaders/TexelNode.js';
import {
  buildOf,
  type DrawnMaterial,
  materialProperty,
  onceABuild,
  rowsOfPoint,
} from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { type ImpostorMesh, tableOf } from '../../features/impostors/Impostor.js';
import type { ShownTiles, TilePrinter } from '../../features/impostors/TilePrinter.js';
import { onCrowdUpdate } from './crowdNodes.js';
import type { NodeSource } from './NodeSource.js';
import { instanceMatrixNode } from './placeCrowd.js';
import { actionsOf, readerOf } from './StoredPlaces.js';

/** Places the quads of impostors in node materials. */
export const impostorNodes: NodeSource = {
  name: 'impostor',

  skinningMatrix({ crowd, build, instance }) {
    const table = texels(tableOf(crowd));
    const actions = readerOf(actionsOf(crowd));
    onCrowdUpdate((drawn) => {
      table.value = tableOf(drawn);
      actions.value = actionsOf(drawn);
    });
    const matrix = instanceMatrixNode(crowd, build as unknown as NodeBuilder);
    const { position, normal } = placeImpostor({ table, actions, instance: instance.toVar(), matrix });
    return { rows: rowsOfPoint(position), normal, previous: null };
  },
};

const isShadowPass = (builder: NodeBuilder): boolean =>
  (buildOf(builder).material as DrawnMaterial).isShadowPassMaterial === true;

/** What a fragment does with the tiles of whichever impostor is drawn. */
const fragmentOf = /*@__PURE__*/ onceABuild(({ uniforms }: ShownTiles, builder) => {
  const nodes = new Map<string, { value: unknown }>();
  for (const [name, { value }] of Object.entries(uniforms)) {
    if (value instanceof Vector2) nodes.set(name, uniform(value, 'ivec2'));
    else if (value) nodes.set(name, name === 'impostorPartColors' ? texels(value) : texture(value));
  }
  onCrowdUpdate((crowd) => {
    const { tiles } = crowd as DrawnCrowd & Partial<ImpostorMesh>;
    for (const [name, node] of nodes)
      node.value = tiles?.uniforms[name as keyof typeof uniforms].value ?? node.value;
  });
  return impostorFragment(Object.fromEntries(nodes), isShadowPass(builder));
});

/** Draws and shows the tiles of impostors with `WebGPURenderer`. */
export const nodeTiles: TilePrinter = {
  isWebGL: false,
  numbersOf: layeredOf,
  colorType: UnsignedByteType,
  // With four bytes for a colour, four clips take 16 MB too.
  tileTexels: TILE_TEXELS * 0.86,
  // This renderer neither loses textures nor says which it has.
  has: () => true,

  dress(material, tiles, isShadow) {
    if (isShadow) return;
    const find = <T extends Node>(what: (fragment: ReturnType<typeof impostorFragment>) => T) =>
      Fn((builder: NodeBuilder) => what(fragmentOf(tiles, builder)))() as T;
    const isThere = find((fragment) => fragment.readImpostor());
    const color = Fn((builder: NodeBuilder) => {
      // Shadows ask for its opacity alone.
      if (isShadowPass(builder)) return vec4(1);
      const { impostorColor, impostorPartColor } = fragmentOf(tiles, builder);
      let own = impostorColor();
      if ('color' in material) own = own.mul(materialProperty<'vec3'>('color', 'color'));
      return vec4(tiles.hasParts ? own.mul(impostorPartColor()) : own, 1);
    })();
    const shift = find((fragment) => fragment.impostorShift());
    const place = positionView.add(shift);
    Object.assign(material, {
      maskNode: isThere,
      colorNode: color,
      normalNode: find((fragment) => fragment.impostorFacing()),
      depthNode: isThere.select(depthAt(place), 0),
      receivedShadowPositionNode: positionWorld.add(cameraWorldMatrix.mul(vec4(shift, 0)).xyz),
      setupPosition(this: NodeMaterial, builder: NodeBuilder) {
        buildOf(builder).context.positionView = place;
        return Object.getPrototypeOf(this).setupPosition.call(this, builder);
      },
    });
  },

  dressTile(copy, source, hasParts) {
    const depth = viewZToOrthographicDepth(positionView.z, cameraNear, cameraFar);
    const part = hasParts ? varying(int(attribute<'ivec2'>('partIndex', 'ivec2').x)) : int(0);
    const mrtNode = mrt({
      output: vec4(sqrt(clamp(diffuseColor.rgb, 0, 1)), 1),
      shape: vec4(normalView.xy.mul(0.5).add(0.5), depth, 1),
      part: vec4(part.toFloat().div(255)),
    });
    const { customProgramCacheKey } = source;
    Object.assign(copy, {
      mrtNode,
      customProgramCacheKey: () => `tile ${hasParts} ${customProgramCacheKey.call(source)}`,
    });
  },

  createResolve(sources, hasParts) {
    const material = new NodeMaterial() as DrawnMaterial;
    material.vertexNode = vec4(positionGeometry.xy, 0, 1);
    material.colorNode = Fn(() => {
      resolveTile(sources.map((one) => texture(one)));
      return tileColor;
    })();
    const outputs = { output: tileColor, shape: tileShape };
    material.mrtNode = mrt(hasParts ? { ...outputs, part: tilePart } : outputs);
    material.depthTest = material.depthWrite = false;
    material.blending = NoBlending;
    return material as Material;
  },

  enter(target) {
    const renderer = target as WebGPURenderer & { _compilationPromises?: object | null };
    // What is drawn while pipelines are made ahead may be nothing.
    if (renderer._compilationPromises) return null;
    const state = RendererUtils.resetRendererState(renderer, {} as never);
    return () => RendererUtils.restoreRendererState(renderer, state);
  },
};

/** What is written as the depth of a place in view space. */
function depthAt(place: Node<'vec3'>): Node<'float'> {
  const depth = Fn((builder: NodeBuilder) => {
    const { renderer, camera } = builder as unknown as {
      renderer: WebGPURenderer;
      camera: { isPerspectiveCamera?: boolean };
    };
    if (renderer.logarithmicDepthBuffer && camera.isPerspectiveCamera)
      return viewZToLogarithmicDepth(place.z, cameraNear, cameraFar);
    const { z, w } = cameraProjectionMatrix.mul(vec4(place, 1)).toVar();
    const isHalved = renderer.coordinateSystem === WebGLCoordinateSystem && !renderer.reversedDepthBuffer;
    return isHalved ? z.div(w).mul(0.5).add(0.5) : z.div(w);
  });
  return depth() as Node<'float'>;
}
