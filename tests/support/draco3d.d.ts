/** As much of Draco's encoder as the tests use; the package has no types. */
declare module 'draco3d' {
  interface Encoder {
    readonly POSITION: number;
    readonly GENERIC: number;
    readonly MESH_SEQUENTIAL_ENCODING: number;
    Encoder: new () => {
      SetEncodingMethod(method: number): void;
      EncodeMeshToDracoBuffer(mesh: object, out: object): number;
    };
    MeshBuilder: new () => {
      AddFacesToMesh(mesh: object, faces: number, indices: ArrayLike<number>): boolean;
      AddFloatAttributeToMesh(
        mesh: object,
        kind: number,
        count: number,
        size: number,
        values: Float32Array,
      ): number;
      AddUInt16Attribute(
        mesh: object,
        kind: number,
        count: number,
        size: number,
        values: Uint16Array,
      ): number;
    };
    Mesh: new () => object;
    DracoInt8Array: new () => { GetValue(index: number): number };
    destroy(object: object): void;
  }
  const draco3d: { createEncoderModule(options: object): Promise<Encoder> };
  export default draco3d;
}
