import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import GLSLDecoder from 'three/addons/transpiler/GLSLDecoder.js';

const ASSIGNS = {
  '=': '',
  '+=': 'add',
  '-=': 'sub',
  '*=': 'mul',
  '/=': 'div',
  '&=': 'bitAnd',
  '|=': 'bitOr',
};
const OPERATORS = {
  '+': 'add',
  '-': 'sub',
  '*': 'mul',
  '/': 'div',
  '%': 'mod',
  '<': 'lessThan',
  '>': 'greaterThan',
  '<=': 'lessThanEqual',
  '>=': 'greaterThanEqual',
  '==': 'equal',
  '!=': 'notEqual',
  '&&': 'and',
  '||': 'or',
  '&': 'bitAnd',
  '|': 'bitOr',
  '^': 'bitXor',
  '<<': 'shiftLeft',
  '>>': 'shiftRight',
};
const TYPES = /^(float|int|uint|bool|[iu]?vec[234])$/;
/** Functions that TSL has by the same names. */
const BUILT_IN = new Set(
  (
    'abs atan clamp cos cross dFdx dFdy dot exp2 floor fract length log2 max min mix normalize sign sin sqrt step ' +
    'floatBitsToUint uintBitsToFloat unpackSnorm2x16'
  ).split(' '),
);

/**
 * Nodes that do what functions in GLSL do: a module whose default export takes what the functions need, by name, and returns them, by
 * name. Functions of numbers and vectors are functions of the shader too, unless they are one expression. Those of structs, or with
 * parameters that they change, build on the current stack where they are called; `mat3x4` is an array of three vectors.
 *
 * The texts keep to what has a twin: no array, no `switch`; after an `if` in which some ways return, nothing but `else`; a `for` counts
 * up to less than something, with other steps after it; `continue` in no loop. Textures are read by `texelFetch`, which is `texel` of
 * what is given for the texture, and by `textureLod`, which is its `lod`.
 *
 * @param {string} text GLSL.
 * @returns {string}
 * @throws {Error} If the text has what has no twin.
 */
export function nodesOf(text) {
  return new Encoder(new GLSLDecoder().parse(text)).module();
}

/** The number that an expression is known to be; null if it is none. Floats have as many digits as a float32 needs. */
function numberOf(node) {
  const exact = exactOf(node);
  if (exact === null || typeOfNumber(node) !== 'float') return exact;
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9].find(
    (n) => Math.fround(exact.toPrecision(n)) === Math.fround(exact),
  );
  return Number(exact.toPrecision(digits));
}

function exactOf(node) {
  if (node?.isNumber) return Number(node.value);
  if (!node?.isNumericExpression) return null;
  if (node.isUnary) return -exactOf(node.expression);
  const [left, right] = [exactOf(node.left), exactOf(node.right)];
  return { '+': left + right, '-': left - right, '*': left * right, '/': left / right }[node.type] ?? null;
}

const typeOfNumber = (node) => (node.isNumber ? node.type : typeOfNumber(node.expression ?? node.left));

/** The statements in a body, and in what it has in it. */
function statementsIn(body) {
  return body.flatMap((one) => [
    one,
    ...statementsIn(one.body ?? []),
    ...statementsIn(one.initialization ? [one.initialization] : []),
    ...statementsIn(one.elseConditional ? [one.elseConditional] : []),
    ...statementsIn(one.isVariableDeclaration && one.next ? [one.next] : []),
    ...statementsIn(one.isFor ? listOf(one.afterthought) : []),
  ]);
}

const mayReturn = (node) => statementsIn([node]).some((one) => one.isReturn);

/** Whether a body returns whichever way it goes. */
const returns = (body) => {
  const last = body.at(-1);
  return (
    last?.isReturn || (last?.elseConditional && returns(last.body) && returns(last.elseConditional.body))
  );
};

/** The variable that an expression is, or is a part of. */
const variableOf = (node) => (node?.object ?? node)?.property?.split('.')[0];

/** What commas part. */
const listOf = (node) =>
  node?.type === ',' ? [...listOf(node.left), ...listOf(node.right)] : node ? [node] : [];

class Encoder {
  imports = new Set();
  helpers = new Set();
  needs = new Set();
  called = new Set();

  constructor({ body, structTypes }) {
    this.structs = structTypes;
    this.globals = body.filter((one) => one.isVariableDeclaration);
    /** Types of what has a name where the text is. */
    this.types = new Map();
    this.functions = new Map();
    for (const one of body) if (one.isFunctionDeclaration) this.functions.set(one.name, one);
  }

  module() {
    const globals = this.globals.map(
      ({ type, name }) => `const ${name} = ${this.tsl('property')}('${type}', '${name}');`,
    );
    const functions = [...this.functions.values()].map((one) => this.functionOf(one));
    const needs = this.needs.size > 0 ? `{ ${[...this.needs].join(', ')} }` : '';
    const module = [
      `import { ${[...this.imports].join(', ')} } from 'three/tsl';`,
      this.helpers.size > 0 ? `import { ${[...this.helpers].join(', ')} } from './tsl.js';` : '',
      `const make = (${needs}) => {`,
      ...globals,
      ...functions,
      `return { ${[...this.functions.keys()].filter((name) => !this.called.has(name)).join(', ')} };`,
      '};',
      // A shader has each function once.
      needs === '' ? 'let made;\nexport default () => (made ??= make());' : 'export default make;',
    ];
    return module.join('\n');
  }

  tsl(name) {
    this.imports.add(name);
    return name;
  }

  helper(name) {
    this.helpers.add(name);
    return name;
  }

  isInline({ type, params, body }) {
    const isOne = body.filter((one) => !one.isComment).length === 1 && body.some((one) => one.isReturn);
    return (
      isOne || !TYPES.test(type) || params.some((one) => one.qualifier !== null || !TYPES.test(one.type))
    );
  }

  functionOf(node) {
    const { type, name, params } = node;
    const declared = statementsIn(node.body).filter((one) => one.isVariableDeclaration);
    this.types = new Map([...this.globals, ...params, ...declared].map((one) => [one.name, one.type]));
    // What a function changes of its own are copies.
    const changed = params.filter((one) => one.qualifier === null && this.isChanged(node.body, one.name));
    const names = params.map((one) => (changed.includes(one) ? `${one.name}_` : one.name)).join(', ');
    const copies = changed.map((one) => `const ${one.name} = ${this.variable(one.type, `${one.name}_`)};`);
    const body = [...copies, this.bodyOf(node)].join('\n');
    if (this.isInline(node)) return `const ${name} = (${names}) => {\n${body}\n};`;
    const head = [type, name, ...params.map((one) => one.type)].join(' ');
    return `const ${name} = ${this.helper('functionOf')}('${head}', (${names}) => {\n${body}\n});`;
  }

  /** Whether a body writes to a variable, or to a part of it. */
  isChanged(body, name) {
    return statementsIn(body).some((one) => {
      if (one.isAssignment) return variableOf(one.left ?? one.expression) === name;
      const params = (one.isFunctionCall && this.functions.get(one.name)?.params) || [];
      return params.some(({ qualifier }, i) => qualifier !== null && variableOf(one.params[i]) === name);
    });
  }

  bodyOf({ type, body }) {
    const statements = body.filter((one) => !one.isComment);
    const last = statements.at(-1);
    if (!statements.slice(0, -1).some(mayReturn) && (last === undefined || last.isReturn || !mayReturn(last)))
      return this.statements(statements);
    this.result = type === 'void' ? null : type;
    const code = this.statements(this.withElse(statements), true);
    return type === 'void' ? code : `const result = ${this.zeros(type)};\n${code}\nreturn result;`;
  }

  /** Puts what comes after an `if` that returns into its `else`. */
  withElse(statements) {
    const list = statements.filter((one) => !one.isComment);
    const at = list.findIndex(mayReturn);
    if (at < 0 || at === list.length - 1) return list;
    const [one, rest] = [list[at], list.slice(at + 1)];
    if (!one.isConditional || one.elseConditional || !returns(one.body))
      throw new Error('shaderNodes: only a whole "if" without "else" may return before the end.');
    return [
      ...list.slice(0, at),
      { isConditional: true, cond: one.cond, body: one.body, elseConditional: { body: rest } },
    ];
  }

  statements(list, isLowered = false) {
    return list
      .filter((one) => !one.isComment)
      .map((one) => this.statement(one, isLowered))
      .join('\n');
  }

  block(body, isLowered) {
    return `() => {\n${this.statements(isLowered ? this.withElse(body) : body, isLowered)}\n}`;
  }

  statement(node, isLowered) {
    if (node.isVariableDeclaration) return this.declaration(node);
    if (node.isReturn) {
      if (!isLowered) return `return ${this.value(node.value)};`;
      return this.result === null || !node.value ? '' : this.assign('result', this.result, node.value);
    }
    if (node.isConditional) return this.conditional(node, isLowered);
    if (node.isFor) return this.loop(node);
    if (node.isWhile) return `${this.tsl('Loop')}(${this.value(node.condition)}, ${this.block(node.body)});`;
    if (node.isBreak) return `${this.tsl('Break')}();`;
    if (node.isDiscard) return `${this.tsl('Discard')}();`;
    if (node.isUnary && node.isAssignment)
      return `${this.value(node.expression)}.${node.type === '++' ? 'add' : 'sub'}Assign(1);`;
    if (node.isOperator && node.isAssignment) {
      const type = this.typeOf(node.left);
      const target = this.value(node.left);
      if (node.type === '=') return this.assign(target, type, node.right);
      return `${target}.${ASSIGNS[node.type]}Assign(${this.operand(node.right)});`;
    }
    if (node.isFunctionCall) return `${this.value(node)};`;
    throw new Error(`shaderNodes: no twin of a statement "${node.constructor.name}".`);
  }

  declaration({ type, name, value, next }) {
    const code = `const ${name} = ${value ? this.variable(type, this.value(value)) : this.zeros(type)};`;
    return next ? `${code}\n${this.declaration(next)}` : code;
  }

  variable(type, value) {
    return TYPES.test(type) ? `${value}.toVar()` : `${this.helper('variablesOf')}(${value})`;
  }

  zeros(type) {
    if (type === 'bool') return `${this.tsl('bool')}(false).toVar()`;
    if (TYPES.test(type)) return `${this.tsl(type)}(0).toVar()`;
    if (type === 'mat3x4') return `[${[0, 1, 2].map(() => this.zeros('vec4')).join(', ')}]`;
    const { members } = this.structs.get(type);
    return `{ ${members.map((one) => `${one.name}: ${this.zeros(one.type)}`).join(', ')} }`;
  }

  assign(target, type, value) {
    const code = this.value(value);
    if (type === null || TYPES.test(type)) return `${target}.assign(${code});`;
    // What a value is computed of may be what is written.
    const copied = target === 'result' ? code : `${this.helper('variablesOf')}(${code})`;
    return `${this.helper('assignAll')}(${target}, ${copied});`;
  }

  conditional({ cond, body, elseConditional }, isLowered) {
    const yes = this.block(body, isLowered);
    if (!elseConditional) return `${this.tsl('If')}(${this.value(cond)}, ${yes});`;
    const { cond: next, body: others } = elseConditional;
    const no = this.block(next ? [{ ...elseConditional, isConditional: true }] : others, isLowered);
    if (/^\(\) => {\s*}$/.test(yes)) return `${this.tsl('If')}(${this.value(cond)}.not(), ${no});`;
    return `${this.tsl('If')}(${this.value(cond)}, ${yes}).Else(${no});`;
  }

  loop({ initialization, condition, afterthought, body }) {
    const [first, ...steps] = listOf(afterthought);
    const block = [...body, ...steps];
    if (!initialization)
      return `${this.tsl('Loop')}(${this.value(condition)}, ${this.block([...block, first])});`;
    const { name, type, value } = initialization;
    if (condition.type !== '<' || first.type !== '++')
      throw new Error('shaderNodes: a "for" counts up to less than something.');
    const [start, end] = [value, condition.right].map((one) => this.operand(one));
    const counts = `{ start: ${start}, end: ${end}, type: '${type}', condition: '<', name: '${name}' }`;
    return `${this.tsl('Loop')}(${counts}, ({ ${name} }) => {\n${this.statements(block)}\n});`;
  }

  /** As `value`; numbers are those of JavaScript. */
  operand(node) {
    const number = numberOf(node);
    return number === null || typeOfNumber(node) === 'uint' ? this.value(node) : number;
  }

  value(node) {
    const number = numberOf(node);
    if (number !== null) return `${this.tsl(typeOfNumber(node))}(${number})`;
    if (node.isAccessor) return this.name(node.property);
    if (node.isTernary)
      return `${this.tsl('select')}(${[node.cond, node.left, node.right].map((one) => this.value(one)).join(', ')})`;
    if (node.isUnary) return `${this.value(node.expression)}.${node.type === '!' ? 'not' : 'negate'}()`;
    if (node.isOperator) {
      const isVector = /^[=!]=$/.test(node.type) && /vec/.test(this.typeOf(node.left));
      const isTurned = /^[+*]$/.test(node.type) && numberOf(node.left) !== null;
      const [left, right] = isTurned ? [node.right, node.left] : [node.left, node.right];
      const code = `${this.value(left)}.${OPERATORS[node.type]}(${this.operand(right)})`;
      return isVector ? `${code}.${node.type === '==' ? 'all' : 'any'}()` : code;
    }
    if (node.isAccessorElements) return this.elements(node);
    if (node.isFunctionCall) return this.call(node);
    throw new Error(`shaderNodes: no twin of "${node.constructor.name}".`);
  }

  name(name) {
    if (/^(true|false)$/.test(name)) return `${this.tsl('bool')}(${name})`;
    const [variable] = name.split('.');
    if (!this.types.has(variable)) this.needs.add(variable);
    return name;
  }

  elements({ object, elements }) {
    let type = this.typeOf(object);
    let code = this.value(object);
    for (const { value, isStaticElement } of elements) {
      const at = isStaticElement ? null : numberOf(value);
      if (isStaticElement) code += `.${value.property}`;
      else if (at === null) code += `${object.isAccessor ? '' : '.toVar()'}.element(${this.value(value)})`;
      else code += type === 'mat3x4' ? `[${at}]` : `.${'xyzw'[at]}`;
      type = this.typeOfElement(type, isStaticElement ? value.property : '');
    }
    return code;
  }

  call({ name, params }) {
    if (name === 'texelFetch') return `${this.value(params[0])}.texel(${this.value(params[1])})`;
    if (name === 'textureLod')
      return `${this.value(params[0])}.lod(${this.value(params[1])}, ${this.value(params[2])})`;
    if (name === 'mat3x4') return this.rows(params);
    const struct = this.structs.get(name);
    if (struct)
      return `{ ${struct.members.map((one, i) => `${one.name}: ${this.value(params[i])}`).join(', ')} }`;
    if (TYPES.test(name)) return `${this.tsl(name)}(${params.map((one) => this.operand(one)).join(', ')})`;
    if (BUILT_IN.has(name)) {
      const isFloat = (one) => numberOf(one) !== null && typeOfNumber(one) === 'float';
      const args = params.map((one, i) => (i > 0 && isFloat(one) ? numberOf(one) : this.value(one)));
      return `${this.tsl(name)}(${args.join(', ')})`;
    }
    const declared = this.functions.get(name);
    if (declared) this.called.add(name);
    else this.needs.add(name);
    const isInline = !declared || this.isInline(declared);
    const args = params.map((one, i) => {
      const code = this.value(one);
      const isPlace =
        one.isAccessor || (one.isAccessorElements && one.object.isAccessor) || numberOf(one) !== null;
      const type = declared?.params[i].type ?? this.typeOf(one);
      return isInline && !isPlace && (type === null || TYPES.test(type)) ? `${code}.toVar()` : code;
    });
    return `${name}(${args.join(', ')})`;
  }

  rows(params) {
    const values = params.map((one) => this.value(one));
    const vec4 = params.length === 3 ? '' : this.tsl('vec4');
    const row = (i) =>
      `${vec4}(${params.length === 1 ? values[0] : values.slice(i * 4, i * 4 + 4).join(', ')})`;
    return `[${[0, 1, 2].map((i) => (vec4 === '' ? values[i] : row(i))).join(', ')}]`;
  }

  typeOfElement(type, name) {
    if (type === 'mat3x4') return 'vec4';
    if (type === null || type === undefined) return null;
    const member = this.structs.get(type)?.members.find((one) => one.name === name);
    if (member) return member.type;
    const [, kind, size] = /^([iu]?)vec([234])$/.exec(type) ?? [];
    if (size === undefined) return null;
    if (name.length > 1) return `${kind}vec${name.length}`;
    return { '': 'float', i: 'int', u: 'uint' }[kind];
  }

  typeOf(node) {
    if (numberOf(node) !== null) return typeOfNumber(node);
    if (node.isAccessor) {
      const [variable, ...names] = node.property.split('.');
      return names.reduce((type, name) => this.typeOfElement(type, name), this.types.get(variable) ?? null);
    }
    if (node.isTernary) return this.typeOf(node.left);
    if (node.isUnary) return this.typeOf(node.expression);
    if (node.isAccessorElements)
      return node.elements.reduce(
        (type, { value, isStaticElement }) => this.typeOfElement(type, isStaticElement ? value.property : ''),
        this.typeOf(node.object),
      );
    if (node.isOperator) {
      if (/^([=!<>]=|[<>]|&&|\|\|)$/.test(node.type)) return 'bool';
      const [left, right] = [this.typeOf(node.left), this.typeOf(node.right)];
      return /vec/.test(right) ? right : left;
    }
    if (!node.isFunctionCall) return null;
    if (TYPES.test(node.name) || node.name === 'mat3x4' || this.structs.has(node.name)) return node.name;
    if (/^(dot|length)$/.test(node.name)) return 'float';
    if (/^texture|^texel/.test(node.name)) return 'vec4';
    if (BUILT_IN.has(node.name)) return this.typeOf(node.params[0]);
    return this.functions.get(node.name)?.type ?? null;
  }
}

/** A text that a module exports. */
export async function textOf(path, name) {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    format: 'esm',
    packages: 'external',
    write: false,
    logLevel: 'error',
  });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  return (await import(`data:text/javascript;base64,${code}`))[name];
}

/** A module and the name of its text, which are asked for together. */
const ASKED = /^(.*\.ts)\?nodes=(\w+)$/;

/** Vite plugin: the default export of `./file.glsl.js?nodes=textGLSL` is what `nodesOf` makes of a text that the module exports. */
export function shaderNodes() {
  return {
    name: 'shader-nodes',
    enforce: 'pre',
    async load(id) {
      const [, path, name] = ASKED.exec(id) ?? [];
      if (path === undefined) return null;
      this.addWatchFile(path);
      return nodesOf(await textOf(path, name));
    },
  };
}

/** The same for esbuild. */
export const esbuildNodes = {
  name: 'shader-nodes',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /\?nodes=/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace('.js?', '.ts?')),
      namespace: 'nodes',
    }));
    onLoad({ filter: /./, namespace: 'nodes' }, async ({ path }) => {
      const [, file, name] = ASKED.exec(path);
      return { contents: nodesOf(await textOf(file, name)), resolveDir: dirname(file) };
    });
  },
};
