/** The name of what draws: of the GPU, or of the program that stands in for one. */
export function deviceName(gl: WebGL2RenderingContext | null, adapter: GPUAdapterInfo | null): string {
  if (adapter !== null) {
    const { description, vendor, architecture } = adapter;
    return (
      description || [vendor, architecture].filter((part) => part).join(' ') || 'a device without a name'
    );
  }
  const info = gl?.getExtension('WEBGL_debug_renderer_info');
  return info && gl ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : 'a device without a name';
}

/** Whether that is the name of a program that stands in for a GPU. */
export const isSoftwareName = (name: string) => /swiftshader|llvmpipe|software|basic render/i.test(name);

/** The chip alone, of what ANGLE says of drivers and versions too. */
export const chipOf = (name: string): string =>
  /^ANGLE \([^,]*, (?:Vulkan [\d.]+ \(|ANGLE Metal Renderer: )?(?:NVIDIA (?=NVIDIA))?(.*?)(?: \(0x|,)/.exec(
    name,
  )?.[1] ?? name;
