import type { GLTF } from '@gltf-transform/core';
import { parseGlb } from '../format/glb.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import type { BakeRequest } from './bakeRequest.js';
import { type BytesByKind, bytesByKind } from './bytesByKind.js';
import { describeJoints, describeTexture, type TextureDescription } from './describeTexture.js';
import { formatBytes, formatNumber, formatTable } from './formatText.js';

/** A level of detail that was made; either `distance` or `screenShare` says where it begins. */
export interface MadeLevel {
  /** Share of the triangles that was asked for. */
  ratio: number;
  triangles: number;
  /** Share of the character's size by which its surface is off. */
  error: number;
  distance?: number;
  screenShare?: number;
}

/** What `bake` tells of what it did, with `--json` as it is. */
export interface BakeReport extends TextureDescription {
  input: { file: string; bytes: number };
  output: { file: string; bytes: number; bytesByKind: BytesByKind };
  clips: { name: string; duration: number; frames: number; fps: number; rootMotion: boolean }[];
  levels: MadeLevel[];
  warnings: string[];
}

export function bakeReport(
  request: BakeRequest,
  bytes: { input: number; output: Uint8Array },
  boneTexture: BoneTexture,
  levels: MadeLevel[],
  warnings: string[],
): BakeReport {
  const json = parseGlb(bytes.output).json as unknown as GLTF.IGLTF;
  return {
    input: { file: request.input, bytes: bytes.input },
    output: {
      file: request.output,
      bytes: bytes.output.byteLength,
      bytesByKind: bytesByKind(json, 0),
    },
    ...describeTexture(boneTexture),
    clips: boneTexture.clips.map(({ name, duration, count, fps, rootMotion }) => {
      return { name, duration, frames: count, fps, rootMotion: rootMotion !== null };
    }),
    levels,
    warnings,
  };
}

/** The report in words. */
export function bakeText({ input, output, clips, levels, ...report }: BakeReport): string {
  const { encoding, textureBytes, warnings } = report;
  const { baked, animations } = output.bytesByKind;
  const sampled =
    encoding === 'tracks' ? '' : `, ${clips.reduce((sum, { frames }) => sum + frames, 0)} frames`;
  const lines = [
    `${output.file}: ${formatBytes(output.bytes)} (${input.file}: ${formatBytes(input.bytes)})`,
    `${clips.length} clips${sampled}, ${describeJoints(report)}: ${formatBytes(baked)} in the file, ${formatBytes(textureBytes)} on the GPU`,
  ];
  if (animations > 0) {
    lines.push(
      `The source's own animations take ${formatBytes(animations)} more; --drop-source-animations leaves them out.`,
    );
  }
  if (levels.length > 0) {
    const rows = levels.map(({ ratio, triangles, error, distance, screenShare }) => [
      `${formatNumber(ratio * 100)} %`,
      String(triangles),
      `${formatNumber(error * 100)} %`,
      distance === undefined ? `${formatNumber((screenShare ?? 0) * 100)} % of the height` : String(distance),
    ]);
    lines.push('', ...formatTable(['level', 'triangles', 'error', 'from'], rows));
  }
  return [...lines, ...warnings.map((warning) => `Warning: ${warning}`)].join('\n');
}
