/** The 8 categories of the sample data with their products, 77 in total. */
export const categories: readonly { readonly name: string; readonly description: string; readonly products: readonly string[] }[] = [
  {
    name: 'Beverages',
    description: 'Coffee, tea, juice and what is sold by the glass',
    products: [
      'Alpine Spring Water',
      'Apple and Quince Juice',
      'Black Cherry Soda',
      'Breakfast Tea',
      'Dark Roast Coffee',
      'Elderflower Cordial',
      'Ginger Beer',
      'Green Tea with Mint',
      'Hibiscus Infusion',
      'Oat Drink'
    ]
  },
  {
    name: 'Condiments',
    description: 'Sauces, spreads and pickles',
    products: [
      'Aged Balsamic Vinegar',
      'Cherry Preserve',
      'Chestnut Honey',
      'Coarse Mustard',
      'Fig Chutney',
      'Fire-Roasted Salsa',
      'Olive Tapenade',
      'Pickled Lemons',
      'Tamarind Sauce',
      'Walnut Oil'
    ]
  },
  {
    name: 'Confections',
    description: 'Chocolate, biscuits and sweets',
    products: [
      'Almond Nougat',
      'Butter Shortbread',
      'Candied Orange Peel',
      'Caramel Wafers',
      'Dark Chocolate with Salt',
      'Gingerbread Hearts',
      'Hazelnut Pralines',
      'Liquorice Wheels',
      'Marzipan Loaf',
      'Pistachio Halva'
    ]
  },
  {
    name: 'Dairy',
    description: 'Cheese, butter and yoghurt',
    products: [
      'Ash-Ripened Goat Cheese',
      'Blue Sheep Cheese',
      'Cultured Butter',
      'Feta in Brine',
      'Fresh Ricotta',
      'Mountain Cheese, 18 Months',
      'Smoked Scamorza',
      'Strained Yoghurt',
      'Washed-Rind Cheese'
    ]
  },
  {
    name: 'Grains',
    description: 'Flour, pasta, bread and cereals',
    products: [
      'Buckwheat Flour',
      'Bulgur, Coarse',
      'Crispbread with Rye',
      'Durum Pappardelle',
      'Einkorn Berries',
      'Gnocchi',
      'Jasmine Rice',
      'Polenta',
      'Rolled Oats',
      'Soba Noodles'
    ]
  },
  {
    name: 'Meat',
    description: 'Prepared and cured meat',
    products: [
      'Air-Dried Beef',
      'Chorizo',
      'Duck Rillettes',
      'Fennel Salami',
      'Lamb Merguez',
      'Smoked Ham',
      'Turkey Breast',
      'Venison Pâté',
      'Wild Boar Sausage'
    ]
  },
  {
    name: 'Produce',
    description: 'Fruit, vegetables and pulses',
    products: [
      'Artichoke Hearts',
      'Beluga Lentils',
      'Dried Apricots',
      'Dried Porcini',
      'Kalamata Olives',
      'Longlife Tofu',
      'Medjool Dates',
      'Roasted Chestnuts',
      'Sun-Dried Tomatoes',
      'White Asparagus'
    ]
  },
  {
    name: 'Seafood',
    description: 'Fish, shellfish and seaweed',
    products: [
      'Anchovies in Oil',
      'Boston Crab Meat',
      'Gravlax',
      'Jack Mackerel',
      'Marinated Herring',
      'Nori Sheets',
      'Pickled Mussels',
      'Sardines with Lemon',
      'Smoked Trout'
    ]
  }
]

/** 13 cities and 7 trades form the names of the 91 customers. */
export const places: readonly (readonly [city: string, country: string])[] = [
  ['Lisbon', 'Portugal'],
  ['Graz', 'Austria'],
  ['Lyon', 'France'],
  ['Bergen', 'Norway'],
  ['Ghent', 'Belgium'],
  ['Leipzig', 'Germany'],
  ['Seville', 'Spain'],
  ['Turin', 'Italy'],
  ['Cork', 'Ireland'],
  ['Uppsala', 'Sweden'],
  ['Montevideo', 'Uruguay'],
  ['Bristol', 'United Kingdom'],
  ['Oaxaca', 'Mexico']
]
export const trades: readonly string[] = ['Delicatessen', 'Market Hall', 'Provisions', 'Bistro', 'Wholesale Foods', 'Canteen', 'Grocers']
export const givenNames: readonly string[] = [
  'Elena',
  'Jonas',
  'Amélie',
  'Ingrid',
  'Tomás',
  'Ruth',
  'Bruno',
  'Chiara',
  'Niamh',
  'Oskar',
  'Lucía',
  'Harriet',
  'Mateo'
]
export const familyNames: readonly string[] = ['Almeida', 'Berger', 'Carrasco', 'Dubois', 'Eriksen', 'Fontana', 'Gallagher']
export const cancellationReasons: readonly string[] = ['Ordered by mistake.', 'Delivery would take too long.', 'Found in stock elsewhere.']
