/** A mixer of an instance, or an action of it. */
type Observed = {
  /** Values of the fields: elements, since properties that go by a name in a variable are slow. */
  fieldValues?: unknown[];
  /** Brings what time changes up to the present. */
  read(): void;
  /** Called before a field is set. @throws If it cannot be set to that. */
  change(field: string, value: unknown): void;
};

/**
 * Makes accessors of fields that three.js's constructors set. Called by constructors, the first of which does it: a module that
 * does it as it is loaded stays in every page.
 *
 * @param names In the order in which they are set.
 */
export function observeFields(prototype: object, names: readonly string[]): void {
  if (Object.hasOwn(prototype, names[0])) return;
  names.forEach((name, i) => {
    Object.defineProperty(prototype, name, {
      get(this: Observed) {
        if (name === 'time') this.read();
        return this.fieldValues?.[i];
      },
      set(this: Observed, value: unknown) {
        this.fieldValues ??= [];
        // It is not of age in the constructor.
        if (i < this.fieldValues.length) this.change(name, value);
        this.fieldValues[i] = value;
      },
    });
  });
}
