/** The package has no types. */
declare module 'draco3d' {
  const draco3d: { createEncoderModule(): Promise<object> };
  export default draco3d;
}
