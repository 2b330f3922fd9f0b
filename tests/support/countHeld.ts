/** What was made and not yet freed, by kind. */
export type Held = Record<string, number>;

/** Calls back whenever one of an object's methods is called, which goes through. */
export function onCall(object: object, name: string, callback: () => void): void {
  const methods = object as Record<string, (...args: unknown[]) => unknown>;
  const original = methods[name].bind(object);
  methods[name] = (...args) => {
    callback();
    return original(...args);
  };
}

/** Counts an object's calls of methods that make things, and of those that free them. */
export function countHeld(
  context: object,
  pairs: Record<string, readonly [create: string, free: string]>,
): Held {
  const held: Held = {};
  for (const [kind, [create, free]] of Object.entries(pairs)) {
    held[kind] = 0;
    onCall(context, create, () => held[kind]++);
    onCall(context, free, () => held[kind]--);
  }
  return held;
}
