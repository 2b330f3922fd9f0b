import type { Node } from 'three/webgpu';
import bodyPieces from './bodies.glsl.js?nodes=bodyGLSL';
import frameAtNodes from './fadesAndFrames.glsl.js?nodes=frameAtGLSL';
import layersNodes from './layers.glsl.js?nodes=layerShareGLSL';
import multiplyRowsNodes from './palette.glsl.js?nodes=multiplyRowsGLSL';
import { type PlayedTexels, playedNeeds } from './playedActions.tsl.js';
import composeNodes from './posePass.glsl.js?nodes=composeGLSL';
import sampleNodes from './posePass.glsl.js?nodes=sampleGLSL';
import segmentNodes from './posePass.glsl.js?nodes=segmentGLSL';
import slerpNodes from './slerp.glsl.js?nodes=slerpGLSL';
import type { TexelNode } from './TexelNode.js';
import type { TrackTexelNodes } from './trackTexel.tsl.js';
import type { Rows } from './tsl.js';

/** What all steps of the pass read. */
export interface PassNodes extends TrackTexelNodes {
  /** Nodes; then entries of an instance: its nodes and groups of four morph targets; then columns that are joints. */
  passLayout: Node<'ivec4'>;
  /** Whether there are bodies of other proportions, with what `bodyNodes` gives. */
  HAS_BODIES: boolean;
}

/** What steps between the first and the last read: local matrices, by where they lie. Builds on the current stack. */
type LocalRows = (at: Node<'ivec2'>) => Rows;

/** Nodes for what edits poses, see `PoseEditor` and `PoseEditGLSL`, which come with that. */
export interface PoseEditNodes {
  editLocals(instance: Node<'int'>, node: Node<'int'>, ...transform: readonly Node<'vec4'>[]): void;
  beginModelEdits(instance: Node<'int'>): void;
  editModels(node: Node<'int'>, rows: Rows): Rows;
}

/**
 * @param textures What reads the `PoseEditor.textures` of the crowd that is posed.
 * @param nodes How many a pose has.
 */
export type CreatePoseEditNodes = (
  textures: readonly TexelNode[],
  clock: Node<'float'>,
  nodes: Node<'int'>,
) => PoseEditNodes;

/** The first step of the pass, see `sampleStepGLSL`, for each entry of each instance. What these give builds on the current stack. */
export const sampleStep = (pass: PassNodes, played: PlayedTexels, edits: PoseEditNodes | null) =>
  sampleNodes<{ entryRows(instance: Node<'int'>, entry: Node<'int'>): Rows }>({
    ...slerpNodes(),
    ...frameAtNodes(),
    ...pass,
    ...playedNeeds(played),
    HAS_LAYERS: played.over !== null,
    ...played.over,
    HAS_EDITS: edits !== null,
    ...edits,
  }).entryRows;

/** The step between the two, see `segmentStepGLSL`, for each entry of an instance whose local matrices begin at `first`. */
export const segmentStep = (pass: PassNodes, localRows: LocalRows) =>
  segmentNodes<{ segmentRows(entry: Node<'int'>, first: Node<'ivec2'>): Rows }>({
    ...multiplyRowsNodes(),
    ...pass,
    localRows,
  }).segmentRows;

/**
 * The second step, see `composeStepGLSL`, for each column of each instance.
 *
 * @param segments Whether `segmentStep` came before.
 * @param placingRows Where an instance stands.
 */
export const composeStep = (
  pass: PassNodes,
  localRows: LocalRows,
  placingRows: (instance: Node<'int'>) => Rows,
  edits: PoseEditNodes | null,
  segments: boolean,
) =>
  composeNodes<{
    columnRows(instance: Node<'int'>, column: Node<'int'>, first: Node<'ivec2'>): Rows;
  }>({
    ...multiplyRowsNodes(),
    ...pass,
    localRows,
    placingRows,
    HAS_SEGMENTS: segments,
    HAS_EDITS: edits !== null,
    ...edits,
  }).columnRows;

/**
 * What steps need for layers over the base.
 *
 * @param masks Where these show, see `AnimationLayers.masks`.
 */
export const layerNodes = (masks: TexelNode): object => layersNodes({ ...frameAtNodes(), masks });

/** What a step needs for bodies of other proportions, see `bodiesGLSL`. */
export const bodyNodes = (
  bodies: TexelNode,
  played: Omit<PlayedTexels, 'over'>,
  passLayout: Node<'ivec4'>,
): object => bodyPieces({ ...playedNeeds(played), bodies, passLayout });
