/** What `--help` shows. */
export const HELP = `Bakes the animations of characters for animated crowds in three.js.

  skinned-instanced-mesh bake FILE -o OUT.glb   adds baked animation to a .glb or .gltf
  skinned-instanced-mesh inspect FILE           says what is in a file
  skinned-instanced-mesh --version

With --help behind a command, its options.

Exit codes: 0 done, 1 something is wrong with a file, 2 with the command line.`;

/** Options that mean nothing where vertices are baked. */
export const OF_JOINTS = `
  --encoding tracks|frames     tracks by default
  --max-error NUMBER           of clips that tracks must sample, as a share of the size; 0.0001 by default
  --root-motion                takes the way over the ground out of clips, for applyRootMotion
  --root-motion-joint NAME     of this joint
  --root-motion-clips LIST     of these clips alone
  --root-motion-vertical       motion along y too
  --no-root-motion-yaw         but no turns
  --sockets LIST               nodes that are no joints, but that things shall be attached to
  --joints all|used            all by default; used leaves out those that no vertex follows
  --no-morph-targets           leaves morph targets out
`;

/** What `bake --help` shows, and which options there are. */
export const BAKE_HELP = `skinned-instanced-mesh bake FILE -o OUT.glb [options]

Reads a .glb, or a .gltf with the files beside it; also those that Draco or meshoptimizer have packed. Writes a .glb with
the character as crowds draw it, which opens in any viewer, at rest.

  -o, --output OUT.glb         the file to write
  --clips LIST                 which clips, in this order: Idle,Run,Punch@60 (with frames per second of its own); * stands
                               for any text; may be given several times, e.g. for names with commas. All by default
  --exclude LIST               clips to leave out, e.g. T-Pose
  --fps NUMBER                 frames per second of skinning matrices; 30 by default. Tracks have those of their keys
  --precision float|half       float by default; half takes half the memory
  --max-texture-size TEXELS    4096 by default
  --vat                        bakes where all vertices are in place of joints, for what has no skeleton or hundreds of morph
                               targets; larger, and nothing can be attached
  --levels LIST                levels of detail by the share of triangles that is left: 0.5,0.2. Each begins where its error
                               is smaller than a line of 1080, or at a distance, 0.5@20, or a share of the picture, 0.5@30%
  --merge-materials            crowds make one material of those that differ in constants and textures
  --hidden-parts LIST          parts that no instance shows to begin with
  --drop-parts LIST            parts that are never shown, and are left out with their vertices
${OF_JOINTS.slice(1)}  --compress-meshes            stores normals, weights and colours of vertices in 8 bits, and texture coordinates in 16
  --no-compress                stores everything as it is; else meshoptimizer packs it, without a loss
  --source-animations          keeps the source's own animations of joints, for viewers; crowds do not need them
  --drop-source-animations     leaves them out, as is done by default
  -f, --force                  allows to overwrite the file that is read
  --outside                    allows files outside the folder of a .gltf, which it may name
  --json                       writes what was done as JSON
  -h, --help                   shows this

A page loads OUT.glb by GLTFLoader and the SkinnedInstancedMeshExtension of skinned-instanced-mesh/files; see the guide
on files.`;

export const INSPECT_HELP = `skinned-instanced-mesh inspect FILE [options]

Clips with their tracks and errors, joints, levels of detail, and what the bytes of the file are spent on; of a file that
has not been baked, what baking with default options would make of it.

  --no-errors    does not compare clips with the source, which takes longest
  --outside      allows files outside the folder of a .gltf, which it may name
  --json         writes it as JSON
  -h, --help     shows this`;
