/** Flags with which headless Chromium renders WebGL2 and WebGPU in software, on machines with and without a GPU. */
export const browserFlags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--enable-features=Vulkan',
  '--use-vulkan=swiftshader',
  // Tests of what is collected ask for it with `gc()`.
  '--js-flags=--expose-gc',
];
