/** How long an engine may take for one scene, or to start. */
export const PATIENCE = 300_000;

/** What an engine made of the page. */
export class Drawings {
  /** What it says it draws on; null where it has no WebGL 2, undefined if it said nothing. @type {string | null | undefined} */
  device = undefined;
  /** Whether it is the engine that was asked for. */
  accepted = false;
  /** Names of the scenes it was about to draw. @type {string[]} */
  scenes = [];
  /** @type {import('./compare.ts').Drawn[]} */
  drawn = [];
  /** Each with the renderer and scene that were being drawn, if any. @type {{ scene: string | null, text: string }[]} */
  problems = [];
  seconds = 0;

  /** What a renderer made of a scene. */
  of(renderer, scene) {
    return this.drawn.find((one) => one.renderer === renderer && one.scene === scene);
  }

  /** What the engine complained of while it drew that, in words. */
  problemsOf(renderer, scene) {
    const drawing = `${renderer}: ${scene}`;
    return this.problems.filter((problem) => problem.scene === drawing).map(({ text }) => text);
  }

  /** What it complained of outside of any scene, in words. */
  get strayProblems() {
    return this.problems.filter(({ scene }) => scene === null).map(({ text }) => text);
  }
}

/**
 * Opens the page in an engine and waits until all is drawn.
 *
 * @param {import('./engines.mjs').Engine} engine
 * @param {Awaited<ReturnType<typeof import('./serve.mjs').serve>>} site
 * @param {string | undefined} scene Name of the only one to draw.
 */
export async function drawWith(engine, site, scene) {
  const drawings = new Drawings();
  const start = performance.now();
  let ended = () => {};
  const end = new Promise((resolve) => {
    ended = resolve;
  });
  let closing = false;
  const fail = (text) => {
    if (closing) return;
    drawings.problems.push({ scene: null, text });
    ended();
  };
  let timer;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => fail(`it said nothing for ${PATIENCE / 1000} seconds`), PATIENCE);
  };

  const receivers = {
    async begin(message) {
      const { device, scenes } = await message.json();
      Object.assign(drawings, { device, scenes, accepted: device !== null && engine.device.test(device) });
      if (!drawings.accepted) ended();
    },
    async scene(message) {
      drawings.drawn.push(await drawnOf(await message.formData()));
    },
    async problem(message) {
      drawings.problems.push(await message.json());
      // A page that could not be loaded has nothing more to say.
      if (drawings.device === undefined) ended();
    },
    async end() {
      ended();
    },
  };
  const { to, stop } = site.listen(async (kind, message) => {
    wait();
    await receivers[kind](message);
  });

  wait();
  let close = async () => {};
  try {
    const query = new URLSearchParams({ to, renderers: JSON.stringify(engine.renderers) });
    if (scene !== undefined) query.set('scene', scene);
    close = await engine.open(`${site.url}?${query}`, fail);
    await end;
  } catch (error) {
    fail(error.message);
  } finally {
    closing = true;
    clearTimeout(timer);
    stop();
    await close();
  }
  drawings.seconds = (performance.now() - start) / 1000;
  return drawings;
}

/** A scene out of the form that the page sent. */
async function drawnOf(form) {
  const drawn = { ...JSON.parse(form.get('about')), numbers: {} };
  for (const [name, value] of form) {
    if (name === 'about') continue;
    const bytes = await value.arrayBuffer();
    if (name === 'picture' || name === 'empty') drawn[name] = new Uint8Array(bytes);
    else drawn.numbers[name] = new Float32Array(bytes);
  }
  return drawn;
}
