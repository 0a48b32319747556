"""Sentences about what a company does, what may go wrong, and how its management sees the year."""

from __future__ import annotations

from typing import Final

__all__ = ["BUSINESS", "DISCUSSION", "LIQUIDITY", "PROPERTIES", "RISKS"]

BUSINESS: Final = (
    "{company} [designs, makes and sells|develops and supplies|produces and markets] {goods} for [customers|buyers] in "
    "[many|a wide range of] [industries|markets].",
    "The Company was [founded|incorporated] as a [family business|small workshop|partnership of engineers] and has "
    "been [publicly held|listed] for [many|a number of] years.",
    "We [manage|run] our business through [our|the] segments {segments}.",
    "The segment {segment} [serves|sells to] [long-standing|established] customers under [agreements that are renewed "
    "each year|framework contracts|purchase orders].",
    "Our products are sold [directly|through distributors|both directly and through distributors] and [are supported "
    "by|come with] a service organization.",
    "We compete on [quality, delivery and price|the breadth of our range and the reliability of supply|service, "
    "design and total cost of ownership].",
    "[Some|Several] of our competitors are [larger|better known] and have [greater resources|longer histories|wider "
    "distribution] than we have.",
    "Demand for {goods} [follows|depends on] the [budgets|plans] of our customers and is [somewhat|moderately] "
    "seasonal.",
    "Raw materials and [parts|components] are [bought|purchased] from a [broad base of|small number of|range of] "
    "[suppliers|vendors], and [most|nearly all] are available from more than one source.",
    "We [hold|own] [patents, trademarks and trade secrets|trademarks and licenses|know-how and registered designs], "
    "none of which is [by itself|alone] material to the business as a whole.",
    "Our people are [employed|engaged] on [local terms|terms customary where they work], and we [believe|consider] "
    "that relations with them are good.",
    "[Training|Learning] and [workplace safety|health and safety] are [reviewed|discussed] by the Board [each "
    "quarter|regularly].",
    "We are subject to [laws and regulations|rules] on [product safety, labeling and the environment|trade, privacy "
    "and competition|health, safety and the environment].",
    "Compliance with environmental rules has not had, and is not expected to have, a material effect on [our "
    "results|capital spending|our competitive position].",
    "No single customer [accounted for|made up] a [material|significant] part of revenue in fiscal {year} or {before}.",
    "We [file|make available] [annual, quarterly and current reports|our reports] with the [Securities and Exchange "
    "Commission|Commission], which maintains a public site.",
    "Our fiscal year ends on {year_end}; references to a year are to the fiscal year that ends in it.",
    "[Product development|Engineering] work is [carried out|done] in [small teams|regional centers] close to the "
    "[plants|customers] that [use|need] it.",
    "The segment {segment} [introduced|launched] [new|refreshed] {goods} during fiscal {year}, [most of "
    "which|which] replaced [older|earlier] lines.",
    "We [seek|aim] to [grow|expand] by [adding|winning] customers, [widening|renewing] our range and, from time to "
    "time, [buying|acquiring] [smaller|complementary] businesses.",
    "[Orders|Contracts] are [usually|generally] [filled|completed] within the year in which they are [placed|signed], "
    "and may be [canceled|changed] before [shipment|delivery].",
    "Our [plants|sites] are [inspected|audited] [regularly|every year] by [customers|outside specialists] and hold "
    "the [certificates|permits] that their work [requires|calls for].",
    "[Freight|Shipping] is [arranged|handled] by [outside carriers|our own fleet and outside carriers] and is [charged "
    "on|passed on] to customers where [contracts|terms] allow.",
    "We [keep|hold] [modest|limited] [stocks|amounts] of [finished goods|spare parts] near our [largest|main] "
    "markets to [shorten|reduce] delivery times.",
)

RISKS: Final = (
    "[Weak|Uncertain] economic conditions [could|may] [reduce|delay] demand for {goods} and [harm|hurt] our results.",
    "If we [cannot|fail to] [develop|introduce] new products [in time|on schedule], customers may [turn|move] to "
    "[competitors|others].",
    "[Shortages|Interruptions] of [materials|components|supply] [could|may] [stop|slow] production and [raise|add to] "
    "our costs.",
    "[Prices|Costs] of [energy, freight and raw materials|materials and transport] [vary|change] [widely|quickly], and "
    "we may be [unable|slow] to [pass them on|recover them].",
    "A [failure|breach] of our information systems [could|might] [disrupt|interrupt] [operations|the business] and "
    "[expose us to claims|damage our reputation].",
    "We [sell|operate] in [many|several] countries and are exposed to [changes in exchange rates|tariffs and trade "
    "restrictions|local rules that may conflict].",
    "The loss of [key people|senior managers|skilled staff] [could|may] [weaken|set back] our [plans|business].",
    "[Acquisitions|Purchased businesses] may not [bring|deliver] the benefits that we [expect|plan for], and their "
    "[integration|absorption] takes time.",
    "Our [debt|borrowings] [could|may] limit our [freedom|ability] to [invest|react to changes in our markets], and "
    "their terms [contain|include] covenants.",
    "[Changes|Developments] in tax law, or [disputes|differences] with tax authorities, [could|may] change what we "
    "[owe|pay].",
    "[Litigation|Legal proceedings] [can|may] be [costly|lengthy] and its outcome is [uncertain|hard to predict].",
    "Goodwill and other intangible assets, [where we have them|if any], may become impaired and would then be "
    "[written down|charged to income].",
    "[Severe weather|Natural disasters] or [public health events|conflicts] may [close|damage] [our sites|sites of our "
    "suppliers].",
    "Our quarterly results [fluctuate|vary] and [should not|ought not to] be [relied on|taken] as an indication of "
    "any full year.",
    "The price of our common stock [has been|may be] volatile and [could|may] [decline|fall] for reasons [unrelated|"
    "not related] to our performance.",
    "If our [internal controls|controls over financial reporting] [failed|were not effective], investors [could|might] "
    "lose confidence in [our reports|what we report].",
    "[Environmental|Climate] [rules|requirements] [could|may] [raise|add to] the cost of [making|selling] {goods}.",
    "We [depend|rely] on [third parties|contractors] for [part of our logistics|some of our manufacturing|parts of our "
    "software], and their failure would be ours.",
    "[Customers|Large customers] [may|could] [demand|ask for] [lower prices|longer terms of payment], [which would|and "
    "this could] [weigh on|reduce] our margins.",
    "[Insurance|Our insurance] may not cover [all losses|every claim], and [its cost|premiums] may [rise|change].",
    "We may need [more capital|further financing], which may not be [available|offered] on terms [that suit us|that we "
    "would accept].",
    "[Claims|Assertions] that we [infringe|use] the rights of others [could|may] [force|oblige] us to [change|"
    "withdraw] [products|designs].",
    "[Labor disputes|Work stoppages] at [our plants|ports|carriers] [could|may] [delay|interrupt] deliveries.",
    "Our [forecasts|expectations] rest on [assumptions|judgments] that may [prove wrong|turn out differently].",
)

PROPERTIES: Final = (
    "Our [headquarters|principal offices] are [located|situated] on {street} Street and are [owned|leased] by the "
    "Company.",
    "We [own|lease] [plants, warehouses and offices|sites] in the regions in which we [sell|operate].",
    "We [believe|consider] that our [properties|facilities] are [suitable|adequate] for our [present|current] needs.",
    "[From time to time|In the ordinary course] we are [party|subject] to [claims|legal proceedings], none of which we "
    "[expect|believe] to be material.",
    "[Mine safety disclosures|Disclosures about mine safety] are not applicable.",
    "Our common stock is [listed|traded] on a national exchange, and [dividends|distributions], if any, are [declared|"
    "decided] by the Board.",
)

DISCUSSION: Final = (
    "The following discussion [should|is to] be read together with the consolidated financial statements and [their "
    "notes|the notes to them].",
    "[Changes|Movements] in revenue [reflect|come from] [volume, price and mix|the number of orders, prices and the "
    "mix of products] in our segments {segments}.",
    "The segment {segment} was affected by [the timing of orders|changes in the mix of customers|conditions in its "
    "markets].",
    "Cost of revenue [includes|consists of] [materials, labor and overhead|materials, wages, freight and depreciation "
    "of plants].",
    "Gross profit as a percentage of revenue [depends on|varies with] [product mix and the use of capacity|prices, "
    "input costs and volumes].",
    "[Selling and administrative|Overhead] costs [include|consist of] [salaries, commissions and professional fees|"
    "wages, rent and advertising].",
    "Where a line of the statements of operations is shown as a dash, [there was no such item|nothing was recorded] in "
    "the year.",
    "[Interest|The cost of borrowing] [follows|depends on] the [average|outstanding] balance of debt and the rates "
    "that apply to it.",
    "Our effective tax rate [differs|departs] from the statutory rate because of [state taxes, foreign earnings and "
    "credits|the items that the note on income taxes lists].",
    "[Management|The Company] [uses|looks at] [several|a number of] measures to [judge|assess] performance, among them "
    "operating income and [cash generated by operations|orders].",
    "[Exchange rates|Currency movements] had [an effect|some effect] on [reported|translated] revenue in fiscal {year} "
    "and {before}.",
    "We [took|carried out] [measures|actions] to [simplify|streamline] [our structure|the organization], and [some|a "
    "part] of their cost is shown as restructuring where we had any.",
    "[Inflation|The rise of prices] [was felt|had an effect] in [wages and freight|materials and energy] [during|"
    "throughout] fiscal {year}.",
    "[Estimates|Judgments] that are [critical|most important] to our statements [concern|relate to] [revenue, "
    "inventories and income taxes|receivables, long-lived assets and income taxes].",
    "[Actual results|Outcomes] may [differ|depart] from [these|our] estimates.",
    "New accounting standards that [took effect|became effective] in fiscal {year} [did not have|had no] material "
    "effect.",
    "[Volumes|Orders] in the first half of the year were [shaped|influenced] by [customers' stocks|the timing of large "
    "projects], and in the second half by [new products|price lists that took effect].",
    "A comparison with years before {before} [can be found|is given] in our [earlier|prior] annual reports.",
)

LIQUIDITY: Final = (
    "Our [main|principal] sources of [cash|liquidity] are [operations|cash generated by operations], [cash on hand|"
    "cash balances] and [borrowings|debt].",
    "We [believe|expect] that [these sources|they] [are|will be] [sufficient|adequate] for [at least the next twelve "
    "months|our needs over the coming year].",
    "[Cash|The cash] used for investment [goes|went] [mainly|largely] into [plants, tools and information systems|"
    "equipment and buildings].",
    "[Cash flows|Movements] from financing [reflect|include] [borrowings, repayments and payments to shareholders|what "
    "was borrowed, repaid and distributed].",
    "Maturities of debt for each of the coming years are [shown|listed] in the notes to the statements.",
    "We were in compliance with [all|the] covenants of our [debt|credit agreements] on {year_end}, {year}.",
    "[Working capital|The need for working capital] [varies|changes] with the [season|timing of orders], and is "
    "[highest|largest] before [our busiest months|deliveries].",
    "We have no off-balance-sheet arrangements that are [likely|reasonably likely] to have a material effect.",
    "[Market risk|Exposure to market risk] [arises|comes] from [interest rates and exchange rates|rates of interest "
    "and currencies], and we [do not hold|hold no] instruments for trading.",
    "A [portion|part] of our cash is [held|kept] by subsidiaries abroad and [could|may] be [moved|brought home] "
    "[without|with little] tax.",
)
