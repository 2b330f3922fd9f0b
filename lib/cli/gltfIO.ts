import { type Extension, Logger, NodeIO, VertexLayout } from '@gltf-transform/core';
import { ALL_EXTENSIONS, EXTMeshoptCompression, KHRDracoMeshCompression } from '@gltf-transform/extensions';
import { MeshoptDecoder, MeshoptEncoder } from 'meshoptimizer';
import { BakedAnimation } from './BakedAnimation.js';
import { createDracoDecoder } from './dracoDecoder.js';

/** Draco's name among the extensions of glTF. */
export const DRACO = 'KHR_draco_mesh_compression';

/** Collects what glTF-Transform warns of, to be shown with all other warnings. */
class WarningLog extends Logger {
  constructor(private readonly warnings: string[]) {
    super(Logger.Verbosity.SILENT);
  }

  override warn(text: string): void {
    this.warnings.push(text);
  }
}

/** Extensions that say how numbers are packed, and nothing about what they mean. */
const PACKING: (typeof Extension)[] = [EXTMeshoptCompression, KHRDracoMeshCompression];

/**
 * What reads and writes glTF files in whatever way they are packed, with what was baked into them.
 *
 * @param warnings Gets what it warns of.
 * @param draco Whether the file is packed by Draco, whose decoder takes a while to load.
 */
export async function createIO(warnings: string[], draco: boolean): Promise<NodeIO> {
  await Promise.all([MeshoptDecoder.ready, MeshoptEncoder.ready]);
  return new NodeIO()
    .setLogger(new WarningLog(warnings))
    .setVertexLayout(VertexLayout.SEPARATE)
    .registerExtensions([...ALL_EXTENSIONS, BakedAnimation])
    .registerDependencies({
      'meshopt.decoder': MeshoptDecoder,
      'meshopt.encoder': MeshoptEncoder,
      ...(draco ? { 'draco3d.decoder': await createDracoDecoder() } : {}),
    });
}

/** What writes files that are not packed at all, for whoever has no decoders. */
export function createPlainIO(): NodeIO {
  return new NodeIO()
    .setLogger(new WarningLog([]))
    .setVertexLayout(VertexLayout.SEPARATE)
    .registerExtensions(ALL_EXTENSIONS.filter((extension) => !PACKING.includes(extension)));
}
