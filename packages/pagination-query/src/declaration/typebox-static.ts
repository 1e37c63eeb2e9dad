/** A schema of TypeBox 1, by its kind. Its package, in which its type `Static` is, may not be installed. */
export interface KindOfSchema<Kind extends string = string> {
  readonly '~kind': Kind
}

type Optional = { readonly '~optional': true }
type Flat<Type> = { [Name in keyof Type]: Type[Name] }
type Members<Properties> = Flat<
  { [Name in keyof Properties as Properties[Name] extends Optional ? never : Name]: StaticOf<Properties[Name]> } & {
    [Name in keyof Properties as Properties[Name] extends Optional ? Name : never]?: StaticOf<Properties[Name]>
  }
>
type All<Parts> = Parts extends readonly [infer First, ...infer Others] ? StaticOf<First> & All<Others> : unknown

/** The type of the values of a schema of TypeBox 1, as its own `Static`; `unknown` for one that no row of a list has. */
export type StaticOf<Schema> = Schema extends { readonly '~unsafe': infer Value }
  ? Value
  : Schema extends KindOfSchema<'String' | 'TemplateLiteral'>
    ? string
    : Schema extends KindOfSchema<'Integer' | 'Number'>
      ? number
      : Schema extends KindOfSchema<'Boolean'>
        ? boolean
        : Schema extends KindOfSchema<'Null'>
          ? null
          : Schema extends KindOfSchema<'Literal'> & { readonly const: infer Value }
            ? Value
            : Schema extends KindOfSchema<'Enum'> & { readonly enum: readonly (infer Value)[] }
              ? Value
              : Schema extends KindOfSchema<'Object'> & { readonly properties: infer Properties }
                ? Members<Properties>
                : Schema extends KindOfSchema<'Array'> & { readonly items: infer Item }
                  ? StaticOf<Item>[]
                  : Schema extends KindOfSchema<'Union'> & { readonly anyOf: readonly (infer Branch)[] }
                    ? StaticOf<Branch>
                    : Schema extends KindOfSchema<'Intersect'> & { readonly allOf: infer Parts }
                      ? Flat<All<Parts>>
                      : Schema extends KindOfSchema<'Record'> & { readonly patternProperties: infer Patterns }
                        ? Record<string, StaticOf<Patterns[keyof Patterns]>>
                        : Schema extends KindOfSchema<'Cyclic'> & { readonly $defs: infer Definitions; readonly $ref: infer Name }
                          ? StaticOf<Definitions[Name & keyof Definitions]>
                          : unknown
