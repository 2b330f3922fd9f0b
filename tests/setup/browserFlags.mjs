/** Programs that stand in for a GPU, which draw the same on every machine; or, with `SIM_GPU=1`, the GPU. */
const drawing = process.env.SIM_GPU
  ? ['--use-angle=vulkan', '--enable-gpu', '--ignore-gpu-blocklist', '--disable-vulkan-surface']
  : [
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      '--use-webgpu-adapter=swiftshader',
      '--use-vulkan=swiftshader',
      // It compiles a whole shader for each part of a pipeline, and again for states that are guessed when a program is linked. So it is
      // asked once, when something is drawn; under WebGPU once for all pipelines that have the shader.
      '--disable-angle-features=supportsGraphicsPipelineLibrary,warmUpPipelineCacheAtLink',
      '--enable-dawn-features=vulkan_monolithic_pipeline_cache',
    ];

/** Flags with which headless Chromium renders WebGL2 and WebGPU, on machines with and without a GPU. */
export const browserFlags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  ...drawing,
  '--enable-unsafe-webgpu',
  '--enable-features=Vulkan',
  // Tests of what is collected ask for it with `gc()`.
  '--js-flags=--expose-gc',
];
