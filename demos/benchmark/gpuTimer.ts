import { isSoftwareName } from '../lib/deviceName.js';

/** Times what the GPU does between `begin` and `end`. */
export interface GpuTimer {
  begin(): void;
  end(): void;
  /** Milliseconds, once the GPU has finished; NaN if they are not to be trusted. */
  read(): Promise<number>;
}

/** The timer of a WebGPU device or a WebGL context; null where there is none, or no GPU. */
export function createGpuTimer(
  device: GPUDevice | null,
  gl: WebGL2RenderingContext | null,
  name: string,
): GpuTimer | null {
  if (isSoftwareName(name)) return null;
  if (device !== null) return device.features.has('timestamp-query') ? new PassTimer(device) : null;
  const extension = gl?.getExtension('EXT_disjoint_timer_query_webgl2') as TimerQueries | null | undefined;
  return gl && extension ? new ElapsedTimer(gl, extension) : null;
}

// What TypeScript's own types leave out.
declare const GPUBufferUsage: Record<'QUERY_RESOLVE' | 'COPY_SRC' | 'COPY_DST' | 'MAP_READ', number>;
declare const GPUMapMode: Record<'READ', number>;
interface TimerQueries {
  TIME_ELAPSED_EXT: number;
  GPU_DISJOINT_EXT: number;
}

/** As many as a query set may have. */
const MOST_QUERIES = 4_096;

/** Adds up the render and compute passes, whichever engine encodes them. */
class PassTimer implements GpuTimer {
  private readonly querySet: GPUQuerySet;
  private readonly resolved: GPUBuffer;
  private readonly readable: GPUBuffer;
  private running = false;
  private used = 0;

  constructor(private readonly device: GPUDevice) {
    const size = MOST_QUERIES * 8;
    this.querySet = device.createQuerySet({ type: 'timestamp', count: MOST_QUERIES });
    this.resolved = device.createBuffer({
      size,
      usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
    });
    this.readable = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });

    const timed = <Descriptor extends object>(descriptor: Descriptor): Descriptor => {
      if (!this.running) return descriptor;
      const [first, last] = [this.used, this.used + 1];
      this.used += 2;
      if (this.used > MOST_QUERIES) return descriptor;
      const { querySet } = this;
      const timestampWrites = { querySet, beginningOfPassWriteIndex: first, endOfPassWriteIndex: last };
      return { ...descriptor, timestampWrites };
    };
    const { prototype } = GPUCommandEncoder;
    const { beginRenderPass, beginComputePass } = prototype;
    prototype.beginRenderPass = function begin(descriptor) {
      return beginRenderPass.call(this, timed(descriptor));
    };
    prototype.beginComputePass = function begin(descriptor = {}) {
      return beginComputePass.call(this, timed(descriptor));
    };
  }

  begin(): void {
    this.used = 0;
    this.running = true;
  }

  end(): void {
    this.running = false;
  }

  async read(): Promise<number> {
    const { device, used, resolved, readable } = this;
    if (used === 0 || used > MOST_QUERIES) return Number.NaN;
    const encoder = device.createCommandEncoder();
    encoder.resolveQuerySet(this.querySet, 0, used, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, readable, 0, used * 8);
    device.queue.submit([encoder.finish()]);
    await readable.mapAsync(GPUMapMode.READ, 0, used * 8);
    const times = new BigInt64Array(readable.getMappedRange(0, used * 8));
    let sum = 0n;
    for (let i = 0; i < used; i += 2) sum += times[i + 1] - times[i];
    readable.unmap();
    return Number(sum) / 1e6;
  }
}

/** WebGL has no passes to add up: this one also runs while the GPU waits for commands. */
class ElapsedTimer implements GpuTimer {
  private query: WebGLQuery | null = null;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    private readonly extension: TimerQueries,
  ) {}

  begin(): void {
    this.query = this.gl.createQuery();
    this.gl.beginQuery(this.extension.TIME_ELAPSED_EXT, this.query);
  }

  end(): void {
    this.gl.endQuery(this.extension.TIME_ELAPSED_EXT);
  }

  async read(): Promise<number> {
    const { gl, query, extension } = this;
    if (query === null) return Number.NaN;
    // A result is there only after the page has returned to the browser.
    for (let wait = 0; !gl.getQueryParameter(query, gl.QUERY_RESULT_AVAILABLE); wait++) {
      if (wait > 1_000) return Number.NaN;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const trusted = !gl.getParameter(extension.GPU_DISJOINT_EXT);
    const elapsed = trusted ? Number(gl.getQueryParameter(query, gl.QUERY_RESULT)) / 1e6 : Number.NaN;
    gl.deleteQuery(query);
    return elapsed;
  }
}
