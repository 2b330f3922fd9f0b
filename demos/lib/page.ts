/** What the pages share: their panel's controls, and the message at the edge. */

export function find<T extends Element>(selector: string): T {
  const element = document.querySelector<T>(selector);
  if (element === null) throw new Error(`The page has no ${selector}.`);
  return element;
}

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

export function tell(text: string, progress?: number): void {
  const message = find<HTMLElement>('.message');
  message.hidden = false;
  message.classList.remove('error');
  const [span, bar] = message.children as unknown as [HTMLElement, HTMLProgressElement];
  span.textContent = text;
  bar.hidden = progress === undefined;
  if (progress !== undefined) bar.value = progress;
}

export function fail(error: Error): void {
  tell(error.message);
  find('.message').classList.add('error');
  document.body.dataset.error = error.message;
}

/** Calls back when the message is closed. */
export function onClose(callback: () => void): void {
  find('.message button').addEventListener('click', () => {
    callback();
    find<HTMLElement>('.message').hidden = true;
  });
}
