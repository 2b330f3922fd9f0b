/** What the pages share: their panel's controls, and the message at the edge. */

export function find<T extends Element>(selector: string): T {
  const element = document.querySelector<T>(selector);
  if (element === null) throw new Error(`The page has no ${selector}.`);
  return element;
}

/** Whether the visitor asks for less motion. */
export const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Whether the camera moves by itself to begin with: as the address says, else where nobody asks for less motion. */
export const movesFirst = (asked: string | null): boolean => (asked === null ? !isCalm : asked !== '0');

/** A button that is pressed or not; `apply` is called at once with how it begins. */
export function toggle(name: string, value: boolean, apply: (value: boolean) => void): void {
  const button = find<HTMLButtonElement>(`button[name=${name}]`);
  const set = (pressed: boolean) => {
    button.setAttribute('aria-pressed', String(pressed));
    apply(pressed);
  };
  button.addEventListener('click', () => set(button.getAttribute('aria-pressed') !== 'true'));
  set(value);
}

/** Buttons of which one is pressed. */
export function choice<T>(
  selector: string,
  options: [T, string][],
  value: T,
  apply: (value: T) => void,
): void {
  const buttons = options.map(([option, label]) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    button.addEventListener('click', () => {
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
      apply(option);
    });
    button.setAttribute('aria-pressed', String(option === value));
    return button;
  });
  find(selector).replaceChildren(...buttons);
}

/** A slider, whose value its `<output>` shows. */
export function slide(name: string, apply: (value: number) => void): void {
  const input = find<HTMLInputElement>(`[name=${name}]`);
  input.addEventListener('input', () => {
    showValue(name, input.value);
    apply(Number(input.value));
  });
}

/** What a slider's `<output>` says. */
export function showValue(name: string, text: string): void {
  (find(`[name=${name}]`).nextElementSibling as HTMLOutputElement).value = text;
}

/**
 * Seconds from one frame to the next: none where the first frame began before the page asked for the time, and no more than
 * a tenth after a pause.
 */
export function secondsBetween(last: number, now: number): number {
  return Math.min(Math.max(now - last, 0) / 1000, 0.1);
}

let message: HTMLElement | null = null;
const closed: (() => void)[] = [];

/** The box at the edge, which is made when there is first something to say. */
function openMessage(): HTMLElement {
  if (message === null) {
    message = document.createElement('div');
    message.className = 'message';
    message.setAttribute('role', 'status');
    message.innerHTML =
      '<span></span><progress max="1"></progress><div class="buttons"><button type="button">Close</button></div>';
    const box = message;
    message.querySelector('button')?.addEventListener('click', () => {
      for (const callback of closed) callback();
      box.hidden = true;
    });
    document.body.append(message);
  }
  message.hidden = false;
  return message;
}

export function tell(text: string, progress?: number): void {
  const box = openMessage();
  box.classList.remove('error');
  const [span, bar] = box.children as unknown as [HTMLElement, HTMLProgressElement];
  span.textContent = text;
  bar.hidden = progress === undefined;
  if (progress !== undefined) bar.value = progress;
}

export function fail(error: Error): void {
  tell(error.message);
  openMessage().classList.add('error');
  document.body.dataset.error = error.message;
}

/** Calls back when the message is closed. */
export function onClose(callback: () => void): void {
  closed.push(callback);
}

/** Calls back when a key is pressed, but not while something is typed. */
export function onKey(key: string, callback: () => void): void {
  document.addEventListener('keydown', (event) => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === key && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) callback();
  });
}

/**
 * What every panel ends with: what draws, the other renderer, the page's source, the other pages.
 *
 * @param label Says that it draws, and with which renderer.
 * @param folder Of the page, within the demos.
 */
export function createNote(label: string, folder = location.pathname.split('/').at(-2) ?? ''): HTMLElement {
  const up = '../'.repeat(folder.split('/').length);
  const note = document.createElement('p');
  note.className = 'note';
  const other = label.includes('WebGPURenderer')
    ? ['?renderer=webgl', 'switch to WebGLRenderer']
    : ['?renderer=webgpu', 'switch to WebGPURenderer'];
  note.append(
    label,
    ...[
      other,
      [`${up}source/index.html?of=${folder}/main.ts`, 'source'],
      [`${up}index.html`, 'all demos'],
    ].flatMap(([href, text]) => {
      const link = document.createElement('a');
      link.href = href;
      link.textContent = text;
      return [' · ', link];
    }),
  );
  return note;
}
